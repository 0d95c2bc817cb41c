export default { label: 'Heat', units: { '°F': 5 / 9, '°C': 1 }, offset: { '°F': -160 / 9 } };
