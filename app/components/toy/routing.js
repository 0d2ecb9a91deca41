// Dynamic routing of votes in the plane, as capsviz/routing/dynamic.py does it; tests/browser/test_routing_toy.py holds
// it to those numbers.

/** Σ_k a_k b_k. */
function dot(a, b) {
  return a.reduce((sum, value, k) => sum + value * b[k], 0);
}

/** ‖s‖² / (1 + ‖s‖²) · s / ‖s‖, and 0 at 0. */
function squash(s) {
  const length = Math.sqrt(dot(s, s));
  return s.map((value) => (value * length) / (1 + length * length));
}

/** exp(b_j) / Σ_k exp(b_k): a lower capsule shares itself out over its parents. */
function softmax(logits) {
  const most = Math.max(...logits), shares = logits.map((b) => Math.exp(b - most));
  const sum = shares.reduce((a, b) => a + b, 0);
  return shares.map((share) => share / sum);
}

/** votes[i][j]: what lower capsule i predicts for parent j. Every iteration: logits, couplings, sums, poses, agreement. */
function routeByAgreement(votes, iterations) {
  const parents = votes[0].map((_, j) => j), steps = [];
  let logits = votes.map(() => parents.map(() => 0));
  for (let iteration = 1; iteration <= iterations; iteration++) {
    const couplings = logits.map(softmax);
    const sums = parents.map((j) =>
      votes[0][j].map((_, h) => votes.reduce((sum, vote, i) => sum + couplings[i][j] * vote[j][h], 0)));
    const poses = sums.map(squash);
    const agreement = votes.map((vote) => parents.map((j) => dot(vote[j], poses[j])));
    steps.push({ iteration, logits, couplings, sums, poses, agreement });
    logits = logits.map((row, i) => row.map((b, j) => b + agreement[i][j]));
  }
  return steps;
}
