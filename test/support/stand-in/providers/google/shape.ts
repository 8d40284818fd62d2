/** The supported part of the body of `streamGenerateContent`, with the types of `@google/genai`. */
import type {
  Content,
  FileData,
  FunctionCall,
  FunctionCallingConfig,
  FunctionDeclaration,
  FunctionResponse,
  GenerationConfig,
  Blob as InlineBlob,
  Part,
  ThinkingConfig,
  Tool,
  ToolConfig,
} from "@google/genai";
import { FunctionCallingConfigMode, ThinkingLevel } from "@google/genai";
import { z } from "zod";
import { toShape } from "../shape.ts";

/** A protobuf `Struct`: an object and nothing else. */
const struct = z.record(z.string(), z.unknown());

const part = toShape<Part>()({
  text: z.string().exactOptional(),
  thought: z.boolean().exactOptional(),
  // Bytes, which proto JSON accepts in either alphabet, with or without padding.
  thoughtSignature: z
    .string()
    .regex(/^[A-Za-z0-9+/_-]+={0,2}$/, "Base64 decoding failed")
    .exactOptional(),
  inlineData: toShape<InlineBlob>()({ mimeType: z.string(), data: z.base64() }).exactOptional(),
  fileData: toShape<FileData>()({ mimeType: z.string(), fileUri: z.string() }).exactOptional(),
  functionCall: toShape<FunctionCall>()({ id: z.string().exactOptional(), name: z.string(), args: struct.exactOptional() }).exactOptional(),
  functionResponse: z
    .strictObject({
      id: z.string().exactOptional(),
      name: z.string(),
      response: struct,
    } satisfies { readonly [K in keyof FunctionResponse]?: z.ZodType })
    .exactOptional(),
});
const content = toShape<Content>()({ role: z.string().exactOptional(), parts: z.array(part).exactOptional() });

const declaration = toShape<FunctionDeclaration>()({
  name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, "Must start with a letter or an underscore"),
  description: z.string().exactOptional(),
  parameters: z
    .custom<NonNullable<FunctionDeclaration["parameters"]>>((value) => typeof value === "object" && value !== null)
    .exactOptional(),
  parametersJsonSchema: z.unknown().exactOptional(),
});

const generationConfig = toShape<GenerationConfig>()({
  maxOutputTokens: z.int().min(1).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  topP: z.number().min(0).max(1).exactOptional(),
  stopSequences: z.array(z.string().min(1)).max(5).exactOptional(),
  seed: z.int().exactOptional(),
  responseMimeType: z.enum(["text/plain", "application/json"]).exactOptional(),
  responseJsonSchema: z.record(z.string(), z.unknown()).exactOptional(),
  thinkingConfig: toShape<ThinkingConfig>()({
    includeThoughts: z.boolean().exactOptional(),
    thinkingBudget: z.int().exactOptional(),
    // The SDK sends upper case, the vendor's package lower case. Proto JSON accepts the documented lower-case form
    // too.
    thinkingLevel: z
      .preprocess((level) => (typeof level === "string" ? level.toUpperCase() : level), z.enum(ThinkingLevel))
      .exactOptional(),
  }).exactOptional(),
});

/** The wire format. The SDK's `GenerateContentParameters` has the rest inside `config`. */
export const generateBody = z.strictObject({
  contents: z.array(content).exactOptional(),
  systemInstruction: content.exactOptional(),
  tools: z.array(toShape<Tool>()({ functionDeclarations: z.array(declaration).exactOptional() })).exactOptional(),
  toolConfig: toShape<ToolConfig>()({
    functionCallingConfig: toShape<FunctionCallingConfig>()({
      mode: z.enum(FunctionCallingConfigMode).exactOptional(),
      allowedFunctionNames: z.array(z.string()).exactOptional(),
    }).exactOptional(),
  }).exactOptional(),
  generationConfig: generationConfig.exactOptional(),
});

export type GenerateBody = z.infer<typeof generateBody>;
export type WireContent = z.infer<typeof content>;
export type WirePart = z.infer<typeof part>;
