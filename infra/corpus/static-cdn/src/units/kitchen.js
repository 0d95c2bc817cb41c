export default { label: 'Kitchen', units: { cup: 236.588, ml: 1, tbsp: 14.787, tsp: 4.929, l: 1000 } };
