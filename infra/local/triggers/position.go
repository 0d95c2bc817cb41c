package triggers

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"devplatform/infra/local/datafolder"
)

const (
	positionFormat = "local-triggers/1"
	// lazyWrite is the time from a change of a position to the write of the file. So many small batches share a write.
	lazyWrite = 100 * time.Millisecond
)

// Kinds of positions in a shard. A shard without a position is read from its beginning.
const (
	positionAt    = "at"    // the next record has the sequence number
	positionAfter = "after" // the next record follows the sequence number
	positionEnd   = "end"   // the shard is closed, and all of its records are done
)

// position is the progress in a shard.
type position struct {
	Kind     string `json:"kind"`
	Sequence string `json:"sequence,omitempty"`
}

// positions is the progress of a mapping.
type positions struct {
	// Stream is the ARN of the stream of the shards. It is "" until the mapping has found its stream.
	Stream string              `json:"stream"`
	Shards map[string]position `json:"shards"`
}

// positionContent is the content of a file. Checksum is the checksum of the compact form of Positions.
type positionContent struct {
	Format    string         `json:"format"`
	Mapping   string         `json:"mapping"`
	Checksum  string         `json:"sha256"`
	Positions jsontext.Value `json:"positions"`
}

// positionFile keeps a mapping's positions in memory and in a file.
type positionFile struct {
	path, mapping string
	logger        *slog.Logger

	mu      sync.Mutex
	now     positions
	version int // of now
	written int // version in the file
	writing bool
	done    *sync.Cond // a write has ended
	failed  bool       // the last write failed
	closed  bool
	lazy    *time.Timer // of the next lazy write, or nil
}

// openPositions reads the file of a mapping, if there is one.
func openPositions(dir, mapping string, logger *slog.Logger) (*positionFile, error) {
	p := &positionFile{path: filepath.Join(dir, url.PathEscape(mapping)+".json"), mapping: mapping, logger: logger}
	p.done = sync.NewCond(&p.mu)
	raw, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("positions: %w", err)
	}
	if p.now, err = decodePositions(raw, mapping); err != nil {
		return nil, fmt.Errorf("%s is damaged or not a file of positions (%w): restore it, or move it away "+
			"to read the stream from the starting position", p.path, err)
	}
	return p, nil
}

func decodePositions(raw []byte, mapping string) (positions, error) {
	var file positionContent
	var found positions
	if err := json.Unmarshal(raw, &file, json.RejectUnknownMembers(true)); err != nil {
		return found, errors.New("not JSON of this format")
	}
	if file.Format != positionFormat {
		return found, fmt.Errorf("format %q, want %q", file.Format, positionFormat)
	}
	if err := file.Positions.Compact(); err != nil || checksum(file.Positions) != file.Checksum {
		return found, errors.New("wrong checksum")
	}
	if err := json.Unmarshal(file.Positions, &found, json.RejectUnknownMembers(true)); err != nil {
		return found, errors.New("unknown content")
	}
	if file.Mapping != mapping {
		return found, fmt.Errorf("it belongs to mapping %s", file.Mapping)
	}
	return found, nil
}

func checksum(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// stream returns the ARN of the stream of the positions.
func (p *positionFile) stream() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Stream
}

// of returns a shard's position. The zero position is the beginning of the shard.
func (p *positionFile) of(shard string) position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Shards[shard]
}

// reset replaces all positions by the positions of another stream.
func (p *positionFile) reset(stream string, shards map[string]position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = positions{Stream: stream, Shards: maps.Clone(shards)}
	p.version++
}

// set changes a shard's position. It is in the file after the next sync, or after lazyWrite.
func (p *positionFile) set(shard string, at position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Shards[shard] == at {
		return
	}
	if p.now.Shards == nil {
		p.now.Shards = map[string]position{}
	}
	p.now.Shards[shard] = at
	p.version++
	p.writeLazily()
}

// writeLazily schedules a write. The caller holds mu.
func (p *positionFile) writeLazily() {
	if p.lazy == nil && !p.closed {
		p.lazy = time.AfterFunc(lazyWrite, p.sync)
	}
}

// keep deletes the positions of shards that are no longer known.
func (p *positionFile) keep(known func(shard string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.now.Shards)
	maps.DeleteFunc(p.now.Shards, func(shard string, _ position) bool { return !known(shard) })
	if len(p.now.Shards) != before {
		p.version++
	}
}

// sync returns when all changes before are in the file. Callers that arrive during a write share the next one. If the
// disk fails, the error is logged once, and the mapping continues. The write is repeated after lazyWrite until it
// succeeds.
func (p *positionFile) sync() {
	if err := p.write(); err != nil {
		p.logger.Error("positions can't be written: after a crash, batches would be delivered again",
			"file", p.path, "error", err)
	}
}

// write is sync. It returns an error only if the write before succeeded.
func (p *positionFile) write() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for target := p.version; p.written < target; {
		if p.writing {
			p.done.Wait()
			continue
		}
		if p.lazy != nil {
			p.lazy.Stop()
			p.lazy = nil
		}
		version := p.version
		raw, err := p.encode()
		p.writing = true
		p.mu.Unlock()
		if err == nil {
			err = datafolder.WriteFile(p.path, raw, 0o600)
		}
		p.mu.Lock()
		p.writing = false
		p.done.Broadcast()
		if err != nil {
			first := !p.failed
			p.failed = true
			p.writeLazily()
			if first {
				return err
			}
			return nil
		}
		p.failed, p.written = false, version
	}
	return nil
}

// encode returns the content of the file. The caller holds mu.
func (p *positionFile) encode() ([]byte, error) {
	body, err := json.Marshal(p.now, json.Deterministic(true), json.FormatNilMapAsNull(false))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	raw, err := json.Marshal(positionContent{positionFormat, p.mapping, checksum(body), body}, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return append(raw, '\n'), nil
}

// close writes the positions for the last time.
func (p *positionFile) close() error {
	p.mu.Lock()
	p.closed = true
	p.failed = false // return an error even if the last write failed, too
	p.mu.Unlock()
	if err := p.write(); err != nil {
		return fmt.Errorf("triggers: positions of %s: %w", p.mapping, err)
	}
	return nil
}
