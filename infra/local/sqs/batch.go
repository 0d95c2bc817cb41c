package sqs

import (
	"regexp"
)

// mostEntries is how many entries a batch has at most.
const mostEntries = 10

var batchEntryID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkBatch checks what makes AWS refuse a batch as a whole.
func checkBatch[E interface{ entryID() string }](kind string, entries []E) error {
	if len(entries) == 0 {
		return refuse(typeEmptyBatch, "There should be at least one %s in the request.", kind)
	}
	if len(entries) > mostEntries {
		return refuse(typeTooManyEntries, "Maximum number of entries per request are %d. You have sent %d.", mostEntries, len(entries))
	}
	seen := map[string]bool{}
	for _, e := range entries {
		id := e.entryID()
		if !batchEntryID.MatchString(id) {
			return refuse(typeBatchEntryID, "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return refuse(typeIDsNotDistinct, "Id %s repeated.", id)
		}
		seen[id] = true
	}
	return nil
}

// batchOutput is the answer to a batch whose entries succeed or fail each.
type batchOutput[T any] struct {
	Successful []T            `json:"Successful"`
	Failed     []batchFailure `json:"Failed,omitempty"`
}

type batchFailure struct {
	ID          string `json:"Id"`
	SenderFault bool   `json:"SenderFault"`
	Code        string `json:"Code"`
	Message     string `json:"Message"`
}

// batchID is the result of an entry that only succeeds.
type batchID struct {
	ID string `json:"Id"`
}

func newBatchOutput[T any](size int) *batchOutput[T] {
	return &batchOutput[T]{Successful: make([]T, 0, size)}
}

func (o *batchOutput[T]) fail(id string, err error) {
	refused, _ := asAPIError(err)
	o.Failed = append(o.Failed, batchFailure{ID: id, SenderFault: refused.fault() == "Sender", Code: refused.Type.code, Message: refused.Message})
}

// checkBatchOf looks for the queue first, as AWS does.
func (s *Store) checkBatchOf(address string, check func() error) error {
	s.mutex.Lock()
	_, err := s.queueAt(address)
	s.mutex.Unlock()
	if err != nil {
		return err
	}
	return check()
}

// answerEach answers entries that only succeed or fail.
func answerEach[E interface{ entryID() string }](entries []E, errs []error) *batchOutput[batchID] {
	out := newBatchOutput[batchID](len(entries))
	for i, e := range entries {
		if errs[i] != nil {
			out.fail(e.entryID(), errs[i])
			continue
		}
		out.Successful = append(out.Successful, batchID{e.entryID()})
	}
	return out
}
