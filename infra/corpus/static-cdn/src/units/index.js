export const kinds = {
  kitchen: await import('units/kitchen.js').then((m) => m.default),
  length: await import('units/length.js').then((m) => m.default),
  heat: await import('units/heat.js').then((m) => m.default),
};
