package sqs

import "github.com/cockroachdb/pebble/v2"

type deleteInput struct {
	QueueURL      string  `json:"QueueUrl"`
	ReceiptHandle *string `json:"ReceiptHandle"`
}

func (s *Store) deleteMessage(_ call, in *deleteInput) (*nothing, error) {
	errs, err := s.delete(in.QueueURL, []*string{in.ReceiptHandle})
	if err != nil {
		return nil, err
	}
	return &nothing{}, errs[0]
}

// delete deletes the messages of receipt handles in one write. A handle that is
// not of the last receive deletes nothing, and one of a message that is gone has
// nothing to delete: AWS calls both a success.
func (s *Store) delete(address string, handles []*string) ([]error, error) {
	errs := make([]error, len(handles))
	err := s.write(func(batch *pebble.Batch) (func(), error) {
		q, err := s.queueAt(address)
		if err != nil {
			return nil, err
		}
		found := map[*message]bool{}
		for i, handle := range handles {
			if handle == nil || *handle == "" {
				errs[i] = missing("ReceiptHandle")
				continue
			}
			m, err := q.received(*handle)
			if errs[i] = err; m == nil || found[m] {
				continue
			}
			found[m] = true
			if err := q.erase(batch, m); err != nil {
				return nil, err
			}
		}
		return func() {
			for m := range found {
				q.remove(m)
			}
			q.notify(s, s.now()) // there may be room in flight again
		}, nil
	})
	return errs, err
}

type deleteBatchInput struct {
	QueueURL string             `json:"QueueUrl"`
	Entries  []deleteBatchEntry `json:"Entries"`
}

type deleteBatchEntry struct {
	ID            string  `json:"Id"`
	ReceiptHandle *string `json:"ReceiptHandle"`
}

func (e deleteBatchEntry) entryID() string { return e.ID }

func (s *Store) deleteMessageBatch(_ call, in *deleteBatchInput) (*batchOutput[batchID], error) {
	if err := s.checkBatchOf(in.QueueURL, func() error { return checkBatch("DeleteMessageBatchRequestEntry", in.Entries) }); err != nil {
		return nil, err
	}
	handles := make([]*string, len(in.Entries))
	for i, e := range in.Entries {
		handles[i] = e.ReceiptHandle
	}
	errs, err := s.delete(in.QueueURL, handles)
	if err != nil {
		return nil, err
	}
	return answerEach(in.Entries, errs), nil
}
