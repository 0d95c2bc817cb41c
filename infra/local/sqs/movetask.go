package sqs

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// moveTask moves the messages of a dead-letter queue to where they can be
// received again. It is stored with every step, in the step's own write, so that
// it goes on where it was after a restart.
type moveTask struct {
	ID          string `json:"id"`
	Order       uint64 `json:"order"` // rises with every task
	Source      string `json:"source"`
	Destination string `json:"destination,omitzero"` // "": to the queue that each message came from
	Rate        int64  `json:"rate,omitzero"`        // messages a second; 0: as fast as it goes
	Status      string `json:"status"`
	Reason      string `json:"reason,omitzero"`
	Started     int64  `json:"started"` // milliseconds
	ToMove      int64  `json:"toMove"`
	Moved       int64  `json:"moved"`
}

// States of a task, and AWS's reasons why one failed.
const (
	moveRunning   = "RUNNING"
	moveCompleted = "COMPLETED"
	moveCancelled = "CANCELLED"
	moveFailed    = "FAILED"

	reasonNoQueue  = legacy + "NonExistentQueue"
	reasonNoSource = "CouldNotDetermineMessageSource"
)

const (
	mostMoveRate  = 500
	mostMovesKept = 10 // of a source
)

// store adds the task's record to a batch.
func (t *moveTask) store(batch *pebble.Batch) error {
	value, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encoding a move task: %w", err)
	}
	if err := batch.Set(moveKey(t.ID), value, nil); err != nil {
		return fmt.Errorf("writing a move task: %w", err)
	}
	return nil
}

func (s *Store) loadMove(_, value []byte) error {
	t := &moveTask{}
	if err := json.Unmarshal(value, t); err != nil {
		return fmt.Errorf("a move task: %w", err)
	}
	s.moves[t.ID] = t
	return nil
}

// moveHandle is what a task's handle encodes, as AWS's do.
type moveHandle struct {
	Task   string `json:"taskId"`
	Source string `json:"sourceArn"`
}

func (t *moveTask) handle() string {
	text, err := json.Marshal(moveHandle{t.ID, t.Source})
	if err != nil {
		panic(fmt.Sprintf("sqs: encoding a handle: %v", err)) // two strings
	}
	return base64.StdEncoding.EncodeToString(text)
}

func parseMoveHandle(text string) (h moveHandle, ok bool) {
	plain, err := base64.StdEncoding.DecodeString(text)
	return h, err == nil && json.Unmarshal(plain, &h) == nil && h.Task != "" && h.Source != ""
}

type startMoveInput struct {
	Source      string `json:"SourceArn"`
	Destination string `json:"DestinationArn"`
	Rate        *int64 `json:"MaxNumberOfMessagesPerSecond"`
}

type startMoveOutput struct {
	TaskHandle string `json:"TaskHandle"`
}

func (s *Store) startMoveTask(_ call, in *startMoveInput) (*startMoveOutput, error) {
	if in.Rate != nil && (*in.Rate < 1 || *in.Rate > mostMoveRate) {
		return nil, invalidValue(*in.Rate, "MaxNumberOfMessagesPerSecond", "Must be between 1 and 500, if provided.")
	}
	var task *moveTask
	err := s.write(func(batch *pebble.Batch) (func(), error) {
		source, err := s.checkMove(in)
		if err != nil {
			return nil, err
		}
		if err := s.advance(source); err != nil {
			return nil, err
		}
		s.nextEntry++
		task = &moveTask{
			ID: uuid.NewString(), Order: s.nextEntry, Source: in.Source, Destination: in.Destination,
			Status: moveRunning, Started: s.now(), ToMove: int64(source.visible),
		}
		if in.Rate != nil {
			task.Rate = *in.Rate
		}
		if err := s.forgetMoves(batch, in.Source); err != nil {
			return nil, err
		}
		return func() {
			s.moves[task.ID] = task
			s.tasks.Go(func() { s.runMove(task) })
		}, task.store(batch)
	})
	if err != nil {
		return nil, err
	}
	return &startMoveOutput{task.handle()}, nil
}

// checkMove says whether a task can start, and finds its source.
func (s *Store) checkMove(in *startMoveInput) (*queue, error) {
	source, err := s.moveEnd("SourceArn", in.Source)
	if err != nil {
		return nil, err
	}
	if !s.isDeadLetterQueue(in.Source) {
		return nil, invalid("Source queue must be configured as a Dead Letter Queue.")
	}
	if in.Destination != "" {
		if _, err := s.moveEnd("DestinationArn", in.Destination); err != nil {
			return nil, err
		}
	}
	if in.Destination == in.Source {
		return nil, invalid("Source queue and destination queue can't be the same.")
	}
	if slices.ContainsFunc(s.movesOf(in.Source), func(t *moveTask) bool { return t.Status == moveRunning }) {
		return nil, invalid("There is already a task running. Only one active task is allowed for a source queue arn at a given time.")
	}
	return source, nil
}

// moveEnd finds the queue of an ARN in a parameter.
func (s *Store) moveEnd(parameter, arn string) (*queue, error) {
	const arnColons = 5
	if arn == "" {
		return nil, missing(parameter)
	}
	if !strings.HasPrefix(arn, "arn:") || strings.Count(arn, ":") != arnColons {
		return nil, invalid("You must use this format to specify the %s: arn:<partition>:<service>:<region>:<account-id>:<resource-id>", parameter)
	}
	q := s.queueOf(arn)
	if q == nil {
		return nil, refuse(typeResourceNotFound, "The resource that you specified for the %s parameter doesn't exist.", parameter)
	}
	return q, nil
}

func (s *Store) isDeadLetterQueue(arn string) bool {
	for _, q := range s.queues {
		if q.Settings.Redrive != nil && q.Settings.Redrive.Target == arn {
			return true
		}
	}
	return false
}

// movesOf are the tasks of a source, the newest first.
func (s *Store) movesOf(source string) []*moveTask {
	var found []*moveTask
	for _, t := range s.moves {
		if t.Source == source {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *moveTask) int {
		if a.Order > b.Order {
			return -1
		}
		return 1
	})
	return found
}

// forgetMoves makes room for a new task among those that are listed.
func (s *Store) forgetMoves(batch *pebble.Batch, source string) error {
	kept := s.movesOf(source)
	for _, t := range kept[min(len(kept), mostMovesKept-1):] {
		if err := batch.Delete(moveKey(t.ID), nil); err != nil {
			return fmt.Errorf("forgetting a move task: %w", err)
		}
		delete(s.moves, t.ID)
	}
	return nil
}

type listMovesInput struct {
	Source     string `json:"SourceArn"`
	MaxResults *int64 `json:"MaxResults"`
}

type listMovesOutput struct {
	Results []shownMove `json:"Results"`
}

type shownMove struct {
	TaskHandle  string `json:"TaskHandle,omitzero"` // only while it can be cancelled
	Status      string `json:"Status"`
	Source      string `json:"SourceArn"`
	Destination string `json:"DestinationArn,omitzero"`
	Rate        int64  `json:"MaxNumberOfMessagesPerSecond,omitzero"`
	Moved       int64  `json:"ApproximateNumberOfMessagesMoved"`
	ToMove      int64  `json:"ApproximateNumberOfMessagesToMove"`
	Reason      string `json:"FailureReason,omitzero"`
	Started     int64  `json:"StartedTimestamp"`
}

func (s *Store) listMoveTasks(_ call, in *listMovesInput) (*listMovesOutput, error) {
	most := int64(1)
	if in.MaxResults != nil {
		most = *in.MaxResults
	}
	if most < 1 || most > mostMovesKept {
		return nil, invalidValue(most, "MaxResults", "Must be between 1 and 10, if provided.")
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, err := s.moveEnd("SourceArn", in.Source); err != nil {
		return nil, err
	}
	out := &listMovesOutput{Results: []shownMove{}}
	for _, t := range s.movesOf(in.Source) {
		if int64(len(out.Results)) == most {
			break
		}
		shown := shownMove{
			Status: t.Status, Source: t.Source, Destination: t.Destination, Rate: t.Rate,
			Moved: t.Moved, ToMove: t.ToMove, Reason: t.Reason, Started: t.Started,
		}
		if t.Status == moveRunning {
			shown.TaskHandle = t.handle()
		}
		out.Results = append(out.Results, shown)
	}
	return out, nil
}

type cancelMoveInput struct {
	TaskHandle string `json:"TaskHandle"`
}

type cancelMoveOutput struct {
	Moved int64 `json:"ApproximateNumberOfMessagesMoved"`
}

func (s *Store) cancelMoveTask(_ call, in *cancelMoveInput) (*cancelMoveOutput, error) {
	if in.TaskHandle == "" {
		return nil, missing("TaskHandle")
	}
	handle, ok := parseMoveHandle(in.TaskHandle)
	if !ok {
		return nil, invalid("Value for parameter TaskHandle is invalid.")
	}
	out := &cancelMoveOutput{}
	return out, s.write(func(batch *pebble.Batch) (func(), error) {
		if _, err := s.moveEnd("SourceArn", handle.Source); err != nil {
			return nil, err
		}
		task := s.moves[handle.Task]
		if task == nil || task.Source != handle.Source {
			return nil, refuse(typeResourceNotFound, "Task does not exist.")
		}
		if task.Status != moveRunning {
			return nil, invalid("Only a task with the status RUNNING can be cancelled.")
		}
		task.Status = moveCancelled // its goroutine looks before every step
		out.Moved = task.Moved
		return nil, task.store(batch)
	})
}
