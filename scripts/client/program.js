/**
 * What `npm run client -- --runtimes` runs in every runtime: a stream whose connections are cut, and a turn with a tool. Plain JavaScript,
 * because not every runtime reads types.
 */
export async function talk({ Longhand, url, key, session }) {
  // More breaks in a row than the proxy makes without an event in between.
  const longhand = new Longhand({ url, key, retries: 40 });
  const offsets = [];
  const stream = longhand.stream(session, "我的狗叫雷克斯🐕。 My dog is called Rex.");
  for await (const { offset } of stream) offsets.push(offset);
  const turn = await stream.turn();
  const answered = await longhand.runTools(session, 'Ask weather {"city": "巴黎"} please.', {
    weather: { run: ({ city }) => `晴 in ${city}` },
  });
  const roles = [];
  for await (const { role } of longhand.list("/v1/sessions/{session_id}/messages", { path: { session_id: session } })) roles.push(role);
  return {
    offsets,
    text: stream.text,
    output: turn.output_text,
    status: answered.status,
    results: answered.items.filter(({ role }) => role === "tool").map(({ content }) => content[0].text),
    roles,
  };
}
