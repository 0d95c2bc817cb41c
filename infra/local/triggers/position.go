package triggers

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"devplatform/infra/local/datafolder"
)

// lazyWrite is the time from a change of a position to the write of the file. So many small batches share a write.
const lazyWrite = 100 * time.Millisecond

// position is the progress of a mapping in a stream: the last record before which all records are done.
type position struct {
	Stream   string `json:"stream"`   // the ARN of the stream, "" until the mapping has found it
	Sequence string `json:"sequence"` // "" is the beginning of the stream
}

// positionFile keeps a mapping's position in memory and in a file.
type positionFile struct {
	path   string
	logger *slog.Logger

	mu     sync.Mutex
	now    position
	timer  *time.Timer // of the next write, or nil
	failed bool        // the last write failed
	closed bool

	writing sync.Mutex // held during a write
}

// openPosition reads the file of a mapping, if there is one.
func openPosition(dir, mapping string, logger *slog.Logger) (*positionFile, error) {
	p := &positionFile{path: filepath.Join(dir, url.PathEscape(mapping)+".json"), logger: logger}
	raw, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("position: %w", err)
	}
	if err := json.Unmarshal(raw, &p.now, json.RejectUnknownMembers(true)); err != nil || p.now.Stream == "" {
		return nil, fmt.Errorf("%s is damaged or not a file of a position: restore it, or move it away to read the stream "+
			"from its beginning", p.path)
	}
	return p, nil
}

// sequence returns the position in the stream.
func (p *positionFile) sequence() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Sequence
}

// begin returns the stream of the position. If it is another stream, begin sets the position to the beginning of the
// given stream.
func (p *positionFile) begin(stream string) (before string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.now.Stream
	if before != stream {
		p.change(position{Stream: stream})
	}
	return before
}

// set changes the position in the stream. It is in the file after lazyWrite.
func (p *positionFile) set(sequence string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change(position{Stream: p.now.Stream, Sequence: sequence})
}

// change changes the position, and schedules a write. The caller holds mu.
func (p *positionFile) change(to position) {
	p.now = to
	if p.timer == nil && !p.closed {
		p.timer = time.AfterFunc(lazyWrite, func() { _ = p.write() })
	}
}

// write writes the position. If the disk fails, the error is logged once, and the write is repeated after lazyWrite.
func (p *positionFile) write() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	now := p.now
	p.timer = nil
	p.mu.Unlock()
	raw, err := json.Marshal(now)
	if err == nil {
		err = datafolder.WriteFile(p.path, append(raw, '\n'), 0o600)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if !p.failed {
			p.logger.Error("the position can't be written: after a crash, batches would be delivered again",
				"file", p.path, "error", err)
		}
		p.change(p.now)
	}
	p.failed = err != nil
	return err
}

// close writes the position for the last time.
func (p *positionFile) close() error {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	isKnown := p.now.Stream != ""
	p.mu.Unlock()
	if !isKnown {
		return nil
	}
	if err := p.write(); err != nil {
		return fmt.Errorf("triggers: position: %w", err)
	}
	return nil
}
