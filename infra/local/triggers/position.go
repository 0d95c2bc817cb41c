package triggers

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/go-json-experiment/json"
)

// Positions stores the progress of mappings of streams.
type Positions interface {
	// Load returns the saved position of a mapping, or nil if there is none.
	Load(mapping string) ([]byte, error)
	// Save may lose the latest positions in a crash.
	Save(mapping string, position []byte) error
}

// position is the progress of a mapping in a stream: the last record up to which all records are done.
type position struct {
	Stream   string `json:"stream"`   // the ARN of the stream, "" until the mapping has found it
	Sequence string `json:"sequence"` // of the record, "" at the beginning of the stream
}

// progress keeps a mapping's position, and saves each change.
type progress struct {
	store   Positions
	mapping string
	logger  *slog.Logger

	mu      sync.Mutex
	current position
	failed  bool // the last change was not saved
}

// openProgress reads the position of a mapping, if there is one.
func openProgress(store Positions, mapping string, logger *slog.Logger) (*progress, error) {
	p := &progress{store: store, mapping: mapping, logger: logger}
	saved, err := store.Load(mapping)
	if err == nil && saved != nil {
		err = json.Unmarshal(saved, &p.current, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return nil, fmt.Errorf("read the position: %w", err)
	}
	return p, nil
}

// sequence returns the position in the stream.
func (p *progress) sequence() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current.Sequence
}

// begin returns the stream that the position had. If it was another stream, begin sets the position to the beginning of
// the given stream.
func (p *progress) begin(stream string) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.current.Stream
	if before != stream {
		p.change(position{Stream: stream})
	}
	return before
}

// set changes the position in the stream.
func (p *progress) set(sequence string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(position{Stream: p.current.Stream, Sequence: sequence})
}

// change saves the position. If that fails, the mapping continues, and the next change saves it. The caller holds mu.
func (p *progress) change(to position) {
	p.current = to
	text, err := json.Marshal(to)
	if err == nil {
		err = p.store.Save(p.mapping, text)
	}
	if err != nil && !p.failed {
		p.logger.Error("the position can't be saved: after a restart, batches would be delivered again", "error", err)
	}
	p.failed = err != nil
}
