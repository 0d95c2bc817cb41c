package dynamodb

// StreamChanged returns a channel that is closed when the stream with this ARN has new records or has ended. It returns
// nil if there is no such stream. A reader that gets the channel before it reads the stream misses no record.
func (db *DB) StreamChanged(arn string) <-chan struct{} {
	db.catalog.RLock()
	defer db.catalog.RUnlock()
	s, err := db.findStream(arn, db.options.Now())
	if err != nil {
		return nil
	}
	for {
		if changed := s.changed.Load(); changed != nil {
			return *changed
		}
		changed := make(chan struct{})
		if s.changed.CompareAndSwap(nil, &changed) {
			return changed
		}
	}
}

// wakeReaders closes the channel of StreamChanged. The records must be durable by now.
func (s *stream) wakeReaders() {
	if changed := s.changed.Swap(nil); changed != nil {
		close(*changed)
	}
}
