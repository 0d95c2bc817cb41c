package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// maxLine bounds a line of log as CloudWatch does; what is longer is split.
const maxLine = 256 << 10

// drainReads bounds what one drain reads, so that a function that logs without end can't hold it.
const drainReads = 64

// output reads one stream of a process (stdout or stderr) and gives it away by lines. Reading is
// done on readiness by run, and on demand by drain: after a drain everything that the process had
// written is given away, so that a line never counts for the request after its own.
type output struct {
	emit func(line string)
	file *os.File
	conn syscall.RawConn

	mu      sync.Mutex
	scratch []byte
	partial []byte
	ended   bool
}

// newOutput returns the reader and the file that the process writes to.
func newOutput(emit func(line string)) (*output, *os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe for the log: %w", err)
	}
	conn, err := reader.SyscallConn()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a pipe for the log: %w", err), reader.Close(), writer.Close())
	}
	return &output{emit: emit, file: reader, conn: conn, scratch: make([]byte, 8<<10)}, writer, nil
}

// run reads until the last writer has closed the pipe, or until close.
func (o *output) run() {
	_ = o.conn.Read(func(fd uintptr) bool { return o.pump(fd, -1) }) // the only error is that it was closed
}

// drain gives away all that was written until now.
func (o *output) drain() {
	_ = o.conn.Control(func(fd uintptr) { o.pump(fd, drainReads) }) // as above
}

// close gives away the rest, a last line without end included.
func (o *output) close() {
	o.drain()
	o.mu.Lock()
	if len(o.partial) > 0 {
		o.give(o.partial)
		o.partial = nil
	}
	o.mu.Unlock()
	_ = o.file.Close() // a pipe's read end has nothing to lose
}

// pump reads what is there and tells whether the stream has ended.
func (o *output) pump(fd uintptr, reads int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ; reads != 0 && !o.ended; reads-- {
		n, err := syscall.Read(int(fd), o.scratch)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return false
		case err != nil || n == 0:
			o.ended = true
		default:
			o.split(o.scratch[:n])
		}
	}
	return o.ended
}

func (o *output) split(p []byte) {
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			break
		}
		line := p[:end]
		if len(o.partial) > 0 {
			line = append(o.partial, line...)
			o.partial = o.partial[:0]
		}
		o.give(line)
		p = p[end+1:]
	}
	o.partial = append(o.partial, p...)
	for len(o.partial) >= maxLine {
		o.give(o.partial[:maxLine])
		o.partial = append(o.partial[:0], o.partial[maxLine:]...)
	}
}

func (o *output) give(line []byte) {
	o.emit(strings.TrimSuffix(string(line), "\r"))
}
