package runtime

import (
	"sync"
)

// tailBytes is how much of a log Lambda returns with LogType Tail.
const tailBytes = 4 << 10

// tail keeps the last 4 KB of one invocation's log.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) line(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(line) + 1 - tailBytes; over > 0 {
		line = line[over:]
	}
	t.kept = append(append(t.kept, line...), '\n')
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept...)
}

// take empties the tail.
func (t *tail) take() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept
	t.kept = nil
	return kept
}
