package runtime

import (
	"bufio"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// pipe makes one of the process's output streams.
func (i *instance) pipe() (*os.File, error) {
	o, writer, err := newOutput(i.line)
	if err != nil {
		return nil, err
	}
	i.output = append(i.output, o)
	return writer, nil
}

// line takes a line of the function's output.
func (i *instance) line(line string) {
	o := &i.pool.rt.opts
	c, id := i.logging.Load(), ""
	if c != nil {
		id = c.RequestID
		if c.tail != nil {
			c.tail.line(line)
		}
	} else {
		i.early.line(line)
	}
	if o.Lines != nil {
		o.Lines(i.pool.function.Name, id, line)
		return
	}
	o.Logger.Info(line, slog.String("function", i.pool.function.Name), slog.String("requestId", id))
}

// inherit begins the call's log with what the instance wrote before.
func (c *call) inherit(i *instance) {
	early := i.early.take()
	if c.tail == nil {
		return
	}
	if len(early) > 0 {
		c.tail.line(strings.TrimSuffix(string(early), "\n"))
	}
	c.tail.line("START RequestId: " + c.RequestID + " Version: " + latest)
}

// conclude ends the invocation, with the report that Lambda logs.
func (i *instance) conclude(c *call) {
	c.end(func() string {
		duration := time.Duration(0)
		if !c.delivered.IsZero() {
			duration = i.pool.rt.now().Sub(c.delivered)
		}
		text := fmt.Sprintf("REPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %.0f ms\tMemory Size: %d MB\tMax Memory Used: %d MB\t",
			c.RequestID, milliseconds(duration), math.Ceil(milliseconds(duration)), i.pool.function.MemoryMB, i.peakMemory())
		if c.init > 0 {
			text += fmt.Sprintf("Init Duration: %.2f ms\t", milliseconds(c.init))
		}
		return text
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// peakMemory is the most memory that the process has had, in MB; 0 where the system doesn't tell.
func (i *instance) peakMemory() int {
	status, err := os.Open("/proc/" + strconv.FormatInt(i.pid.Load(), 10) + "/status")
	if err != nil {
		return 0
	}
	defer func() { _ = status.Close() }() // only read
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if peak, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kilobytes, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(peak), " kB"))
			return (kilobytes + 1023) / 1024
		}
	}
	return 0
}
