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
)

const (
	positionFormat = "local-triggers/1"
	// lazily is how long a position that only passed over records may stay unwritten.
	lazily = time.Second
)

// Kinds of positions in a shard. A shard without one is read from its beginning.
const (
	positionAt    = "at"    // the next record is the one with the sequence number
	positionAfter = "after" // the next record is the one behind the sequence number
	positionEnd   = "end"   // the shard is closed, and all of it is done
)

// position is how far a shard is done.
type position struct {
	Kind     string `json:"kind"`
	Sequence string `json:"sequence,omitempty"`
}

// positions is everything that a mapping remembers.
type positions struct {
	// Stream is the ARN that the rest belongs to; "" before the mapping has first seen its stream.
	Stream string              `json:"stream"`
	Shards map[string]position `json:"shards"`
}

// positionContent is the file: the checksum is over the compact form of Positions.
type positionContent struct {
	Format    string         `json:"format"`
	Mapping   string         `json:"mapping"`
	Checksum  string         `json:"sha256"`
	Positions jsontext.Value `json:"positions"`
}

// positionFile keeps a mapping's positions: in memory, and in a file that is replaced as a whole.
type positionFile struct {
	path, mapping string
	logger        *slog.Logger

	mu      sync.Mutex
	now     positions
	version int // of now
	written int // version in the file
	writing bool
	done    *sync.Cond // a write has ended
	failed  bool       // the last write did
	closed  bool
	lazy    *time.Timer // writes soon what nobody waits for
}

// openPositions reads the file of a mapping; where there is none, the mapping is new.
func openPositions(dir, mapping string, logger *slog.Logger) (*positionFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("positions: %w", err)
	}
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
		return nil, fmt.Errorf("%s is damaged or no file of positions (%w); it was left as it is: restore it, or move it away to begin anew", p.path, err)
	}
	return p, nil
}

func decodePositions(raw []byte, mapping string) (positions, error) {
	var file positionContent
	var found positions
	if err := json.Unmarshal(raw, &file, json.RejectUnknownMembers(true)); err != nil {
		return found, errors.New("no valid JSON of the kind")
	}
	if file.Format != positionFormat {
		return found, fmt.Errorf("format %q, not %q", file.Format, positionFormat)
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

// stream is the ARN that the positions belong to.
func (p *positionFile) stream() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Stream
}

// of is a shard's position; the zero position is the shard's beginning.
func (p *positionFile) of(shard string) position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.Shards[shard]
}

// reset begins with a stream: all that was known of another one is forgotten.
func (p *positionFile) reset(stream string, shards map[string]position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = positions{Stream: stream, Shards: maps.Clone(shards)}
	p.version++
}

// set moves a shard's position. It is in the file after the next sync, or soon.
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
	p.soon()
}

// soon sees that there is a write before long. The caller holds mu.
func (p *positionFile) soon() {
	if p.lazy == nil && !p.closed {
		p.lazy = time.AfterFunc(lazily, p.sync)
	}
}

// keep forgets the shards that the stream has no more.
func (p *positionFile) keep(known func(shard string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.now.Shards)
	maps.DeleteFunc(p.now.Shards, func(shard string, _ position) bool { return !known(shard) })
	if len(p.now.Shards) != before {
		p.version++
	}
}

// sync returns when everything set before is in the file. Callers that come while a write is under way share the next
// one. A disk that fails is logged once and tried again every second; the mapping goes on, and more batches would run again
// after a crash.
func (p *positionFile) sync() {
	if err := p.write(); err != nil {
		p.logger.Error("positions can't be written: after a crash, batches would run again", "file", p.path, "error", err)
	}
}

// write is sync. It returns an error only when writing begins to fail.
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
			err = replace(p.path, raw)
		}
		p.mu.Lock()
		p.writing = false
		p.done.Broadcast()
		if err != nil {
			first := !p.failed
			p.failed = true
			p.soon()
			if first {
				return err
			}
			return nil
		}
		p.failed, p.written = false, version
	}
	return nil
}

// encode makes the file's content. The caller holds mu.
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

// close writes what is left. Nothing may be set after that.
func (p *positionFile) close() error {
	p.mu.Lock()
	p.closed = true
	p.failed = false // the caller wants to know again
	p.mu.Unlock()
	if err := p.write(); err != nil {
		return fmt.Errorf("triggers: positions of %s: %w", p.mapping, err)
	}
	return nil
}

// replace writes a file so that at every moment the old or the new one is there, whole.
func replace(path string, raw []byte) error {
	temporary := path + ".new"
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the path is the mapping's own
	if err != nil {
		return fmt.Errorf("create the file: %w", err)
	}
	_, err = file.Write(raw)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("replace the file: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync the folder: %w", err)
	}
	return nil
}
