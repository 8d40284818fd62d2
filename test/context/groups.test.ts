import { describe, expect, test } from "vitest";
import { viewGroups } from "../../src/context/cut";
import { groupItems } from "../../src/context/groups";
import type { ItemMeta } from "../../src/domain/message";
import { call, id, item, result, turnId, viewing } from "../support/builders";

const inTurn = (n: number) => ({ turn: turnId(n) });
const positions = (items: readonly ItemMeta[]) => groupItems(items, new Set()).map((group) => group.items.map((each) => each.position));

describe("exchange groups", () => {
  test("a response is its text, its calls and their results", () => {
    const items = [
      item(1, "user"),
      item(2, "assistant", inTurn(1)),
      call(3, 1, inTurn(1)),
      call(4, 2, inTurn(1)),
      result(5, 1),
      result(6, 2),
    ];
    expect(positions(items)).toEqual([[1], [2, 3, 4, 5, 6]]);
  });

  test("calls that another turn left unanswered are a response of their own", () => {
    const items = [item(1, "user"), call(2, 1, inTurn(1)), call(3, 2, inTurn(2)), result(4, 2, inTurn(2))];
    expect(positions(items)).toEqual([[1], [2], [3, 4]]);
  });

  test("a call does not join an imported message before it", () => {
    const items = [item(1, "user"), item(2, "assistant"), call(3, 1, inTurn(1)), result(4, 1, inTurn(1))];
    expect(positions(items)).toEqual([[1], [2], [3, 4]]);
  });

  test("the calls of an imported message are one response with their results, whatever was imported before", () => {
    const items = [
      item(1, "assistant"),
      call(2, 1, { continues: true }),
      call(3, 2, { continues: true }),
      result(4, 2),
      result(5, 1),
      item(6, "assistant"),
      call(7, 3),
      result(8, 3),
      call(9, 4),
    ];
    expect(positions(items)).toEqual([[1, 2, 3, 4, 5], [6], [7, 8], [9]]);
  });

  test("an imported reply whose results are still awaited is never cut", () => {
    const items = [item(1, "user"), item(2, "assistant"), call(3, 1, { continues: true }), call(4, 2, { continues: true }), result(5, 1)];
    const open = [{ execution: id("exe", 2), call_id: "call_2", name: "look_up" }];
    expect(viewGroups(viewing(items, { imported_calls: open })).map((group) => group.closed)).toEqual([true, false]);
    expect(viewGroups(viewing(items)).map((group) => group.closed)).toEqual([true, true]);
  });

  test("a call does not join a message of its turn from which something was trimmed away", () => {
    const items = [item(1, "user"), item(2, "assistant", inTurn(1)), call(7, 1, inTurn(1)), result(8, 1, inTurn(1))];
    expect(positions(items)).toEqual([[1], [2], [7, 8]]);
  });
});
