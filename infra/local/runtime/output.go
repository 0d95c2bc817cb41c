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

// maxLine is the length of a log line in CloudWatch. Longer lines are split.
const maxLine = 256 << 10

// drainReads limits what one drain reads, so that a function that always writes does not block it.
const drainReads = 64

// output reads the lines of one stream of a process (stdout or stderr). run reads when there is something to read,
// drain reads at once: after a drain, everything that the process had written was emitted, so that no line is
// attributed to the next call.
type output struct {
	emit func(line string)
	file *os.File
	conn syscall.RawConn

	mu      sync.Mutex
	scratch []byte
	partial []byte
	ended   bool
}

// newOutput returns the reader, and the file for the process to write to.
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

// run reads until the last writer has closed the pipe, or until close is called.
func (o *output) run() {
	_ = o.conn.Read(func(fd uintptr) bool { return o.pump(fd, -1) }) // the only error is that the file was closed
}

// drain emits everything that was written until now.
func (o *output) drain() {
	_ = o.conn.Control(func(fd uintptr) { o.pump(fd, drainReads) }) // as above
}

// close emits the rest, including a last line without a line end.
func (o *output) close() {
	o.drain()
	o.mu.Lock()
	if len(o.partial) > 0 {
		o.emitLine(o.partial)
		o.partial = nil
	}
	o.mu.Unlock()
	_ = o.file.Close() // the read end of a pipe
}

// pump reads the available output. It reports whether the stream has ended.
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
		o.emitLine(line)
		p = p[end+1:]
	}
	o.partial = append(o.partial, p...)
	for len(o.partial) >= maxLine {
		o.emitLine(o.partial[:maxLine])
		o.partial = append(o.partial[:0], o.partial[maxLine:]...)
	}
}

func (o *output) emitLine(line []byte) {
	o.emit(strings.TrimSuffix(string(line), "\r"))
}
