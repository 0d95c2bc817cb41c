const reportWebVitals = (onPerfEntry) => {
  if (onPerfEntry && onPerfEntry instanceof Function) {
    import('web-vitals').then(({ getCLS, getFID, getFCP, getLCP, getTTFB }) => {
      [getCLS, getFID, getFCP, getLCP, getTTFB].forEach((measure) => measure(onPerfEntry));
    });
  }
};

export default reportWebVitals;
