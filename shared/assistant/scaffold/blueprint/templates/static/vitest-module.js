import { expect, test } from 'vitest';
import * as subject from <% js .Part.Import %>;

test('<% .Title %> exports something to use', () => {
  expect(Object.keys(subject)).not.toHaveLength(0);
  for (const [name, exported] of Object.entries(subject)) {
    expect(exported, name).toBeDefined();
  }
});
