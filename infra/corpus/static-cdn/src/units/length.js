export default { label: 'Length', units: { in: 0.0254, cm: 0.01, ft: 0.3048, m: 1, mi: 1609.344, km: 1000 } };
