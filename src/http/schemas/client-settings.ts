import { clientSettings } from "../../contract/client-settings";

const { session_header, on_disconnect, chat_instructions } = clientSettings.shape;

export const clientsInput = clientSettings
  .extend({
    session_header: session_header.default(null),
    on_disconnect: on_disconnect.default(null),
    chat_instructions: chat_instructions.default(null),
  })
  .strict()
  .openapi("CreateClientSettings", {
    description: "How the key's clients of other vendors' APIs are served. It cannot be changed later: a rotation keeps it",
  });
