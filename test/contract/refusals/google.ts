/** Requests that the Gemini API refuses. */
import { createGoogle, GOOGLE_KEY } from "../../support/stand-in/providers/google/google.ts";
import { LONG_TEXT, type Refused, SMALL_WINDOW } from "./refused.ts";

const parameters = { type: "object", properties: {} };
const said = (text: string) => ({ role: "user", parts: [{ text }] });
const modelCall = (signature?: string) => ({
  role: "model",
  parts: [{ functionCall: { name: "lookup", args: {} }, ...(signature ? { thoughtSignature: signature } : {}) }],
});
const response = { role: "user", parts: [{ functionResponse: { name: "lookup", response: { output: "found" } } }] };
export const googleRefusals: Refused = {
  name: "google",
  dialect: createGoogle({ window: SMALL_WINDOW }),
  path: "/models/gemini-3.5-flash:streamGenerateContent?alt=sse",
  headers: { "x-goog-api-key": GOOGLE_KEY },
  taken: { contents: [said("Hi.")] },
  changes: [
    ["a field that it does not know", { system: "Be brief." }, 'Unknown name \\"system\\"'],
    ["nothing", { contents: [] }, "contents is not specified"],
    ["another role", { contents: [{ role: "assistant", parts: [{ text: "Hi." }] }] }, "Please use a valid role: user, model."],
    ["a part with nothing in it", { contents: [{ role: "user", parts: [{}] }] }, "required oneof field 'data'"],
    [
      "a call that follows no words of the user's",
      { contents: [modelCall(), response] },
      "immediately after a user turn or after a function response turn",
    ],
    [
      "a response without its call",
      { contents: [said("Hi."), response] },
      "function response turn comes immediately after a function call turn",
    ],
    [
      "fewer responses than calls",
      { contents: [said("Hi."), { role: "model", parts: [...modelCall().parts, ...modelCall().parts] }, response] },
      "equal to the number of function call parts",
    ],
    [
      "a call without its signature",
      { contents: [said("Hi."), modelCall(), response] },
      "missing a thought_signature in functionCall parts",
    ],
    ["a signature that is not its own", { contents: [said("Hi."), modelCall("bm8="), response] }, "Thought signature is not valid."],
    [
      "a response that is no object",
      {
        contents: [said("Hi."), modelCall("bm8="), { role: "user", parts: [{ functionResponse: { name: "lookup", response: "found" } }] }],
      },
      "Invalid value at",
    ],
    [
      "the same tool twice",
      { tools: [{ functionDeclarations: [{ name: "lookup", parametersJsonSchema: parameters }, { name: "lookup" }] }] },
      "Duplicate function declaration found: lookup",
    ],
    [
      "a file at no address",
      { contents: [{ role: "user", parts: [{ fileData: { mimeType: "image/png", fileUri: "a.png" } }] }] },
      "Unsupported file URI type",
    ],
    ["more than its window", { contents: [said(LONG_TEXT)] }, "exceeds the maximum number of tokens allowed (2000)"],
  ],
};
