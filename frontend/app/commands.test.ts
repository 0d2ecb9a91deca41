import assert from "node:assert/strict";
import { test } from "node:test";

import { commandOf, Commands } from "./commands";

test("a key has its command, and what every object inherits is none", () => {
  assert.equal(commandOf("]"), "image+1");
  assert.equal(commandOf("−"), "T-1");
  assert.equal(commandOf("toString"), undefined);
});

test("one batch is on its way at a time, and what was pressed meanwhile follows it", () => {
  const commands = new Commands();
  commands.add("image+1", 1000);
  assert.deepEqual(commands.due(0), [[1000, "image+1"]]);
  commands.add("class+1", 1000); // in the same millisecond: its number grows all the same
  assert.equal(commands.due(10), null);
  commands.acknowledged(1000);
  assert.deepEqual(commands.due(20), [[1001, "class+1"]]);
});

test("a key counts although the clock has been set back", () => {
  const commands = new Commands();
  commands.acknowledged(2000);
  commands.add("image+1", 1500);
  assert.deepEqual(commands.due(0), [[2001, "image+1"]]);
});

test("what turns something about does so until Python has heard of it, and twice is nothing", () => {
  const commands = new Commands();
  assert.equal(commands.turns("present"), false);
  commands.add("present", 7);
  commands.add("image+1", 8);
  assert.equal(commands.turns("present"), true);
  commands.add("present", 9);
  assert.equal(commands.turns("present"), false);
  commands.acknowledged(7);
  assert.equal(commands.turns("present"), true, "the first was heard, the second not");
  commands.acknowledged(9);
  assert.equal(commands.turns("present"), false);
});

test("what nobody answers is sent again after a while", () => {
  const commands = new Commands();
  commands.add("present", 7);
  commands.due(0);
  assert.equal(commands.due(Commands.PATIENCE - 1), null);
  assert.deepEqual(commands.due(Commands.PATIENCE), [[7, "present"]]);
  commands.acknowledged(7);
  assert.deepEqual([commands.waiting, commands.due(9999)], [[], null]);
});

test("what the page before may not have heard is told at once to the page that comes", () => {
  const commands = new Commands();
  commands.add("present", 7);
  commands.due(0); // on its way while the page is left
  commands.begun();
  assert.deepEqual(commands.due(50), [[7, "present"]]);
  assert.equal(commands.due(60), null);
  commands.acknowledged(7);
  assert.equal(commands.due(70), null);
});
