package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frame is one of a UI message stream.
type frame struct {
	Type           string          `json:"type"`
	Delta          string          `json:"delta"`
	ToolCallID     string          `json:"toolCallId"`
	ToolName       string          `json:"toolName"`
	InputTextDelta string          `json:"inputTextDelta"`
	ErrorText      string          `json:"errorText"`
	FinishReason   string          `json:"finishReason"`
	Data           json.RawMessage `json:"data"`
}

// done is what stands in the last frame in place of JSON.
const done = "[DONE]"

// readFrames gives each frame to see as it comes, up to the last.
func readFrames(body io.Reader, see func(frame) error) error {
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return errors.New("the stream ended before " + done)
		}
		if err != nil {
			return fmt.Errorf("the stream broke: %w", err)
		}
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: ")
		switch {
		case !ok: // a comment, or the empty line behind a frame
		case data == done:
			return nil
		default:
			var f frame
			if err := json.Unmarshal([]byte(data), &f); err != nil {
				return fmt.Errorf("an event of the stream is not valid JSON: %w", err)
			}
			if err := see(f); err != nil {
				return err
			}
		}
	}
}

// member reads a string member of a JSON object of which only the beginning has come, as far as it has come.
func member(object, name string) string {
	_, rest, found := strings.Cut(object, strconv.Quote(name)+":")
	rest, opened := strings.CutPrefix(strings.TrimLeft(rest, " "), `"`)
	if !found || !opened {
		return ""
	}
	end := 0
	for end < len(rest) && rest[end] != '"' {
		step := 1
		if rest[end] == '\\' {
			step = 2
			if end+1 < len(rest) && rest[end+1] == 'u' {
				step = 6
			}
		}
		if end+step > len(rest) {
			break // the escape has not come whole
		}
		end += step
	}
	var value string
	_ = json.Unmarshal([]byte(`"`+rest[:end]+`"`), &value) // what is no JSON is an empty text
	return value
}
