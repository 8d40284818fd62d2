import { describe, expect, it } from "vitest";
import { refuseModelUrl } from "../../src/http/schemas/model";

describe("a tenant's base URL", () => {
  it.each([
    "https://api.openai.com/v1",
    "https://llm.example.com:8443/v1/",
    "https://8.8.8.8/v1",
    "https://[2606:4700::1111]/v1",
    "https://172.15.0.1/",
    "https://172.32.0.1/",
  ])("%s is public", (url) => {
    expect(refuseModelUrl(url, false)).toBeNull();
  });

  it.each([
    "http://api.example.com/v1",
    "https://localhost/v1",
    "https://LOCALHOST./v1",
    "https://db.localhost",
    "https://printer.local",
    "https://metadata.google.internal/",
    "https://intranet",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://0.0.0.0/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest",
    "https://100.64.0.1/",
    "https://198.18.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[ff02::1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:1::]/",
    "https://[2001:db8::1]/",
  ])("%s is refused", (url) => {
    expect(refuseModelUrl(url, false)).not.toBeNull();
  });

  it.each(["http://127.0.0.1:8080/v1", "http://localhost:8080/v1", "https://[::1]/"])(
    "%s is taken where the deployment allows it",
    (url) => {
      expect(refuseModelUrl(url, true)).toBeNull();
    },
  );

  it.each([
    "nonsense",
    "//example.com",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    "https://example.com/v1?key=secret",
    "https://example.com/v1#x",
  ])("%s is refused whatever the deployment allows", (url) => {
    expect(refuseModelUrl(url, true)).not.toBeNull();
  });
});
