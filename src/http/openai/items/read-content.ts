/** The content of OpenAI's messages as our parts. */
import { z } from "@hono/zod-openapi";
import { mediaInput } from "../../../contract/item";
import { fileName } from "../../../contract/label";
import type { FieldError } from "../../../contract/problem";
import { err, ok, type Result } from "../../../lib/result";
import { isDataUrl } from "../../data-url";
import type { PartInput } from "../../schemas/message";

const texts = z.looseObject({ text: z.string() });
const refusal = z.looseObject({ refusal: z.string() });
const image = z.looseObject({ image_url: z.string().nullish(), file_id: z.string().nullish() });
const file = z.looseObject({
  file_url: z.string().nullish(),
  file_data: z.string().nullish(),
  file_id: z.string().nullish(),
  filename: fileName.nullish(),
});

/** A part, and the field of the request that a fault of it is answered with. */
export interface ReadPart {
  readonly part: PartInput;
  readonly field: string;
  /** It is stored already, with all that is known of its file. */
  readonly isStored?: true;
}
type Read = Result<ReadPart, FieldError>;

const refuse = (field: string, detail: string) => err({ field, detail });

/** Media types by the end of an address or name, for requests that do not say them. */
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
};

function guessType(name: string, otherwise: string): string {
  const ending = /\.([a-z]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return (Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined) ?? otherwise;
}

const toPath = (url: string): string => URL.parse(url)?.pathname ?? "";

/** `content`: a string, or a list of parts. A text that is empty says nothing, and is left out. */
export function readContent(content: unknown, field: string): Result<readonly ReadPart[], FieldError> {
  if (typeof content === "string") return ok(content === "" ? [] : [{ part: { type: "text", text: content }, field }]);
  if (!Array.isArray(content)) return refuse(field, "must be a string or a list of parts");
  const parts: ReadPart[] = [];
  for (const [index, given] of content.entries()) {
    const read = readPart(given, `${field}.${index}`);
    if (!read.ok) return read;
    const { part } = read.value;
    if (part.type !== "text" || part.text !== "") parts.push(read.value);
  }
  return ok(parts);
}

const typed = z.looseObject({ type: z.string() });

function readPart(given: unknown, field: string): Read {
  const named = typed.safeParse(given);
  if (!named.success) return refuse(`${field}.type`, "required");
  const { type } = named.data;
  switch (type) {
    case "input_text":
    case "output_text":
    case "text":
      return parseAt(texts, { given, field }, ({ text }) => ok({ part: { type: "text", text }, field }));
    case "refusal":
      return parseAt(refusal, { given, field }, ({ refusal: text }) => ok({ part: { type: "text", text }, field }));
    case "input_image":
      return parseAt(image, { given, field }, (read) => readImage(read, field));
    case "input_file":
      return parseAt(file, { given, field }, (read) => readFile(read, field));
    default:
      return refuse(`${field}.type`, "must be input_text, output_text, refusal, input_image or input_file");
  }
}

/** A refusal names the first field at fault. */
export function parseAt<S extends z.ZodType, T>(
  schema: S,
  { given, field }: { readonly given: unknown; readonly field: string },
  use: (data: z.output<S>) => Result<T, FieldError>,
): Result<T, FieldError> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return use(parsed.data);
  const [issue] = parsed.error.issues;
  return refuse([field, ...(issue?.path ?? [])].join("."), issue?.message ?? "malformed");
}

function readImage({ image_url, file_id }: z.infer<typeof image>, field: string): Read {
  if (file_id) return toMedia({ type: "image", file_id }, `${field}.file_id`);
  if (!image_url) return refuse(`${field}.image_url`, "either image_url or file_id is needed");
  const type = isDataUrl(image_url) ? {} : { media_type: guessType(toPath(image_url), "image/*") };
  return toMedia({ type: "image", url: image_url, ...type }, `${field}.image_url`);
}

function readFile({ file_url, file_data, file_id, filename }: z.infer<typeof file>, field: string): Read {
  const named = { type: "file", ...(filename ? { name: filename } : {}) };
  if (file_id) return toMedia({ ...named, file_id }, `${field}.file_id`);
  if (file_data) {
    // Some clients send the base64 alone, beside a file's name.
    const url = isDataUrl(file_data) ? file_data : `data:${guessType(filename ?? "", "application/pdf")};base64,${file_data}`;
    return toMedia({ ...named, url }, `${field}.file_data`);
  }
  if (!file_url) return refuse(`${field}.file_id`, "one of file_id, file_data and file_url is needed");
  if (isDataUrl(file_url)) return toMedia({ ...named, url: file_url }, `${field}.file_url`);
  const media_type = guessType(filename ?? "", guessType(toPath(file_url), "application/pdf"));
  return toMedia({ ...named, url: file_url, media_type }, `${field}.file_url`);
}

function toMedia(given: object, field: string): Read {
  const media = mediaInput.safeParse(given);
  return media.success ? ok({ part: media.data, field }) : refuse(field, media.error.issues[0]?.message ?? "malformed");
}
