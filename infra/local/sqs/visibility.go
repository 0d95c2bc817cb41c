package sqs

import "github.com/cockroachdb/pebble/v2"

type visibilityInput struct {
	QueueURL      string  `json:"QueueUrl"`
	ReceiptHandle *string `json:"ReceiptHandle"`
	Visibility    *int64  `json:"VisibilityTimeout"`
}

// visibilityChange is what one message shall be hidden for, in seconds from now.
type visibilityChange struct {
	handle  *string
	timeout *int64
}

func (v visibilityChange) check() error {
	switch {
	case v.handle == nil || *v.handle == "":
		return missing("ReceiptHandle")
	case v.timeout == nil:
		return missing("VisibilityTimeout")
	case *v.timeout < 0 || *v.timeout > maxVisibility:
		return invalidValue(*v.timeout, "VisibilityTimeout", "VisibilityTimeout must be an integer between 0 and 43200.")
	default:
		return nil
	}
}

func (s *Store) changeVisibility(_ call, in *visibilityInput) (*nothing, error) {
	errs, err := s.changeAll(in.QueueURL, []visibilityChange{{in.ReceiptHandle, in.Visibility}})
	if err != nil {
		return nil, err
	}
	return &nothing{}, errs[0]
}

// changeAll changes when messages in flight become visible, in one write.
func (s *Store) changeAll(address string, changes []visibilityChange) ([]error, error) {
	errs := make([]error, len(changes))
	err := s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.queueAt(address)
		if err != nil {
			return nil, err
		}
		if err := s.advance(q); err != nil {
			return nil, err
		}
		now := s.now()
		for i, change := range changes {
			m, err := q.changeable(change, now)
			if errs[i] = err; err != nil {
				continue
			}
			q.detach(m)
			if m.visible = now + *change.timeout*millisecondsOf; *change.timeout > 0 {
				q.hide(m)
			} else {
				q.show(m)
			}
			if err := q.put(batch, m); err != nil {
				return nil, err
			}
		}
		return func() { q.notify(s, now) }, nil
	})
	return errs, err
}

// changeable finds the message of a change, or says why it can't be.
func (q *queue) changeable(change visibilityChange, now int64) (*message, error) {
	if err := change.check(); err != nil {
		return nil, err
	}
	m, err := q.received(*change.handle)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, invalidValue(*change.handle, "ReceiptHandle", "Message does not exist or is not available for visibility timeout change.")
	}
	if !m.inFlight() {
		return nil, refuse(typeNotInFlight, "The specified message isn't in flight.")
	}
	if now+*change.timeout*millisecondsOf > m.last+maxVisibility*millisecondsOf {
		return nil, invalidValue(*change.timeout, "VisibilityTimeout", "Total VisibilityTimeout for the message is beyond the limit [43200 seconds]")
	}
	return m, nil
}

type visibilityBatchInput struct {
	QueueURL string                 `json:"QueueUrl"`
	Entries  []visibilityBatchEntry `json:"Entries"`
}

type visibilityBatchEntry struct {
	ID            string  `json:"Id"`
	ReceiptHandle *string `json:"ReceiptHandle"`
	Visibility    *int64  `json:"VisibilityTimeout"`
}

func (e visibilityBatchEntry) entryID() string { return e.ID }

func (s *Store) changeVisibilityBatch(_ call, in *visibilityBatchInput) (*batchOutput[batchID], error) {
	const kind = "ChangeMessageVisibilityBatchRequestEntry"
	if err := s.checkBatchOf(in.QueueURL, func() error { return checkBatch(kind, in.Entries) }); err != nil {
		return nil, err
	}
	changes := make([]visibilityChange, len(in.Entries))
	for i, e := range in.Entries {
		changes[i] = visibilityChange{e.ReceiptHandle, e.Visibility}
	}
	errs, err := s.changeAll(in.QueueURL, changes)
	if err != nil {
		return nil, err
	}
	return answerEach(in.Entries, errs), nil
}
