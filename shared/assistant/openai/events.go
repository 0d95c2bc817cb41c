package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// event is an event of a stream.
type event struct {
	name string
	data []byte // the lines of the data, each with a line break
}

// eventReader reads events in the format text/event-stream
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). A line may end with LF, CR LF or CR. In contrast to
// the specification, the last event does not need an empty line at its end, because some servers omit it.
type eventReader struct {
	body *bufio.Reader
	// line and data are buffers, which are used again for each line and each event.
	line, data []byte
	size       int  // the number of bytes of the event so far
	afterCR    bool // the last byte was a CR
}

// next returns the next event with data. The event is valid until the next call. next returns io.EOF at the end of the
// stream, errTooLarge if an event has more than maxEvent bytes, and otherwise the error of the connection.
func (r *eventReader) next() (event, error) {
	e := event{data: r.data[:0]}
	for r.size = 0; ; {
		line, err := r.readLine()
		atEnd := errors.Is(err, io.EOF)
		if err != nil && !atEnd {
			return event{}, err
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) { // comments have no field name, and other fields are ignored
		case "event":
			e.name = string(value)
		case "data":
			e.data = append(append(e.data, value...), '\n')
			r.data = e.data
		}
		if len(line) > 0 && !atEnd {
			continue
		}
		if len(e.data) > 0 {
			return e, nil
		}
		if atEnd {
			return event{}, io.EOF
		}
		e.name, r.size = "", 0 // an empty line ends an event, also one without data
	}
}

// readLine returns the next line without its line break. With io.EOF, it returns the last line, which has no line
// break.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		c, err := r.body.ReadByte()
		if err != nil {
			return r.line, err
		}
		if r.size++; r.size > maxEvent {
			return nil, errTooLarge
		}
		isPair := r.afterCR && c == '\n'
		r.afterCR = c == '\r'
		switch {
		case isPair: // the CR has already ended the line
		case c == '\r', c == '\n':
			return r.line, nil
		default:
			r.line = append(r.line, c)
		}
	}
}
