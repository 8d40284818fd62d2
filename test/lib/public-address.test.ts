import { describe, expect, it } from "vitest";
import { isPrivateHost, isPublicAddress, urlFault } from "../../src/lib/public-address";
import { REFUSED_URLS } from "./refused-urls";

describe("an address that a resolver gave", () => {
  it.each(["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "192.0.1.1", "2606:4700::1111", "2606:4700:0:0:0:0:0:1111", "2A00:1450::1"])(
    "%s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    ["loopback", "127.0.0.1"],
    ["this network", "0.0.0.0"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "192.168.255.255"],
    ["shared", "100.64.0.1"],
    ["Alibaba's metadata", "100.100.100.200"],
    ["the clouds' metadata", "169.254.169.254"],
    ["Azure's agent", "168.63.129.16"],
    ["Oracle's metadata", "192.0.0.192"],
    ["benchmarks", "198.19.255.255"],
    ["documentation", "203.0.113.7"],
    ["6to4 relays", "192.88.99.1"],
    ["multicast", "239.255.255.250"],
    ["reserved", "240.0.0.1"],
    ["broadcast", "255.255.255.255"],
    ["loopback", "::1"],
    ["unspecified", "::"],
    ["IPv4-mapped", "::ffff:127.0.0.1"],
    ["IPv4-mapped, in hex", "::ffff:7f00:1"],
    ["IPv4-mapped of a public address", "::ffff:8.8.8.8"],
    ["IPv4-compatible", "::127.0.0.1"],
    ["NAT64", "64:ff9b::7f00:1"],
    ["local NAT64", "64:ff9b:1::1"],
    ["6to4", "2002:7f00:1::"],
    ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["unique local", "fc00::1"],
    ["AWS's metadata", "fd00:ec2::254"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["no address", "example.com"],
    ["no address", "1.2.3"],
    ["no address", ""],
  ])("%s is not: %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe("a URL that a tenant wants called", () => {
  it.each([
    "https://api.example.com/weather?format=json",
    "https://api.example.com:8443/",
    "https://example.com./",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]:444/",
    "https://bücher.example/",
    "https://localhost.example.com/",
    "https://internal.example.com/",
  ])("%s may be: any port, any public host", (url) => {
    expect(urlFault(url, false)).toBeNull();
  });

  it.each(REFUSED_URLS)("%s may not be: %s", (_, url) => {
    expect(urlFault(url, false)).not.toBeNull();
  });

  it.each([
    ["a user", "https://user@example.com/"],
    ["a password", "https://user:secret@example.com/"],
    ["a user that looks like a host", "https://example.com@127.0.0.1/"],
    ["a fragment", "https://example.com/#x"],
    ["another scheme", "ftp://example.com/"],
    ["a file", "file:///etc/passwd"],
    ["data", "data:text/plain,hi"],
    ["a WebSocket", "wss://example.com/"],
    ["nonsense", "https://"],
    ["a relative one", "/v1/tools"],
  ])("%s may not be, whatever the deployment allows: %s", (_, url) => {
    expect(urlFault(url, true)).not.toBeNull();
  });

  it("may be local where the deployment allows it", () => {
    expect(urlFault("http://127.0.0.1:8080/x", true)).toBeNull();
    expect(isPrivateHost("127.0.0.1")).toBe(true);
  });
});
