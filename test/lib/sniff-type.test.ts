import { describe, expect, it } from "vitest";
import { sniffType } from "../../src/lib/sniff-type";

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("a file's type by its first bytes", () => {
  it.each([
    ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
    ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
    ["GIF87a\x01\0", "image/gif"],
    ["GIF89a\x01\0", "image/gif"],
    ["RIFF\x24\0\0\0WEBPVP8 ", "image/webp"],
    ["%PDF-1.7\n%\xe2\xe3", "application/pdf"],
    ["name,age\nAda,36\n", "text/plain"],
  ])("%j is %s", (head, type) => {
    expect(sniffType(latin1(head))).toBe(type);
  });

  it("text in Chinese is text", () => {
    expect(sniffType(new TextEncoder().encode("你好，世界"))).toBe("text/plain");
  });

  it.each([["\x7fELF\x02\x01\x01\0"], ["PK\x03\x04\x14\0"], ["RIFF\x24\0\0\0WAVEfmt "], ["\x89PNG\0"]])("%j is not known", (head) => {
    expect(sniffType(latin1(head))).toBeNull();
  });
});
