/** An evaluation of a session's own policy reports what that policy did. */
import { describe, expect, test } from "vitest";
import { evaluate, lived, rangesIn } from "./support";

const TURNS = 40;

describe("a session that lived under a policy, evaluated under the same", () => {
  test.each(["economy", "balanced", "retain", "verbatim", "oneclaw", "opal", "odincode", "yeoman"] as const)(
    "%s: the same changes of the view at the same places, the same tokens in every request, the same record at the end",
    async (policy) => {
      const life = await lived(policy, TURNS);

      const { current, proposed, recorded, ratio } = await evaluate(life, { policy });

      const really = rangesIn(life);
      expect(really.length).toBeGreaterThan(0);
      expect(current.changes.map(({ trigger, range }) => ({ trigger, range }))).toEqual(really.slice(0, 200));
      expect(current.changes.map(({ after_position }) => after_position)).toEqual(
        recorded.changes.map(({ after_position }) => after_position),
      );
      expect(current.tokens.input).toBe(recorded.tokens.input);
      expect(current.record).toEqual(recorded.record);
      expect({ calls: current.calls, turns: current.turns }).toEqual({ calls: recorded.calls, turns: TURNS });
      expect(current).toMatchObject({ breaks: 0, would_not_fit: 0 });
      expect(proposed).toEqual(current);
      expect(ratio).toBe(1);
    },
  );
});
