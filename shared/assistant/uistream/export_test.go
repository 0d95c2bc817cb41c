package uistream

// HasSent reports whether anything was sent.
func (w *Writer) HasSent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hasSent
}
