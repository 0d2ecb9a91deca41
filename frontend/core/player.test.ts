import assert from "node:assert/strict";
import { test } from "node:test";

import { Player } from "./player";

/** The positions that a player passes through, a millisecond at a time. */
function played(player: Player, milliseconds: number): number[] {
  const positions: number[] = [];
  for (let passed = 0; passed < milliseconds && !player.ended; passed++) {
    if (player.advance(1)) positions.push(player.position);
  }
  return positions;
}

test("a frame is held, then the picture glides to the next one, slowly at both ends", () => {
  const player = new Player(3, 100, 50);
  player.start();
  assert.deepEqual(played(player, 99), []);
  const [first, ...others] = played(player, 50);
  assert.ok(first < 0.01);
  assert.ok(others.every((position, k) => k === 0 || position > others[k - 1]));
  assert.equal(others.at(-1), 1);
});

test("it ends at the last frame and begins anew from the first", () => {
  const player = new Player(3, 10, 10);
  player.start();
  played(player, 1000);
  assert.deepEqual([player.position, player.ended], [2, true]);
  player.start();
  assert.deepEqual([player.position, player.ended], [0, false]);
});

test("slow motion takes three times as long", () => {
  const [fast, slow] = [new Player(2, 30, 30), new Player(2, 30, 30)];
  slow.slow = true;
  fast.start();
  slow.start();
  let [quick, long] = [0, 0];
  while (!fast.ended && quick < 1000) quick += (fast.advance(1), 1);
  while (!slow.ended && long < 1000) long += (slow.advance(1), 1);
  assert.ok(Math.abs(long / quick - 3) < 0.1, `${quick} and ${long} ms`);
});

test("paused between two frames, it plays on from there", () => {
  const player = new Player(3, 20, 100);
  player.start();
  for (let passed = 0; passed < 60; passed++) player.advance(1);
  const paused = player.position;
  assert.ok(paused > 0.1 && paused < 0.9, `${paused}`);
  player.start();
  player.advance(1);
  assert.ok(player.position > paused && player.position < paused + 0.05, `${paused} and ${player.position}`);
});

test("without motion it jumps from frame to frame", () => {
  const player = new Player(4, 10, 500);
  player.start();
  for (let passed = 0; passed < 10; passed++) player.advance(1, true);
  assert.equal(player.position, 1);
});

test("between two frames a step leads to the next one on its side, on a frame to its neighbour", () => {
  const player = new Player(5, 1, 1);
  player.place(2.4);
  assert.deepEqual([player.stepped(-1), player.stepped(1)], [2, 3]);
  player.place(2);
  assert.deepEqual([player.stepped(-1), player.stepped(1)], [1, 3]);
});

test("no place lies beyond the ends", () => {
  const player = new Player(3, 1, 1);
  player.place(7);
  assert.equal(player.position, 2);
  player.place(-1);
  assert.equal(player.position, 0);
});

test("another number of frames keeps the share of the way", () => {
  const player = new Player(11, 1, 1);
  player.place(5);
  player.resize(21);
  assert.equal(player.position, 10);
  player.resize(1);
  assert.equal(player.position, 0);
});

test("with another number of frames while it plays it goes on from the same place among them", () => {
  for (const [begun, count] of [
    [20, 12],
    [8, 36],
  ]) {
    const player = new Player(24, 100, 50);
    player.place(begun);
    player.start();
    player.resize(count);
    const [place, frame] = [player.position, Math.floor(player.position)];
    assert.ok(!player.ended);
    const positions = played(player, 160);
    assert.ok(positions[0] >= place && positions[0] < frame + 1, `${place}, then ${positions[0]}`);
    assert.ok(positions.includes(frame + 1));
  }
});
