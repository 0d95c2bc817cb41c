package mailbox

// Add stores a mail without a request.
func (s *Store) Add(m Mail) error { return s.add(m) }
