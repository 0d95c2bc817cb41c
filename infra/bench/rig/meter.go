package rig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"devplatform/infra/bench/price"
)

// Meter counts what AWS would bill for what passes through an assembly. It asks every call of DynamoDB what it consumes, and sums
// the answers.
type Meter struct {
	// Table, if set, is what a call must name to be counted, Functions what a function's name must begin with.
	Table, Functions string

	mu      sync.Mutex
	taken   Taken
	took    Sample // of each invocation
	memory  int    // of the function that was invoked last
	metrics map[string]bool
}

// Taken is what a meter has counted.
type Taken struct {
	price.Units
	Calls float64 // of DynamoDB
	// Millis is how long functions took, not rounded.
	Millis float64
}

// Times is n times of what was taken; a share of it where n is less than one.
func (t Taken) Times(n float64) Taken {
	return Taken{Units: t.Units.Times(n), Calls: t.Calls * n, Millis: t.Millis * n}
}

// Watch is the meter's place in an assembly.
func (m *Meter) Watch() Watch { return Watch{Storage: m.storage, Invoked: m.invoked, Line: m.line} }

// Take answers what was counted since the last time. What ended a moment ago may not have written its log yet: see [Meter.Settle].
func (m *Meter) Take() Taken {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.taken
	m.taken, m.took = Taken{}, nil
	return t
}

// TakeTypical is Take where each of n times one function was invoked once: its time is the median's, so that a machine that was
// busy for a moment doesn't tell, and all else the mean.
func (m *Meter) TakeTypical(n int) (Taken, error) {
	m.mu.Lock()
	typical, memory, invoked := m.took.At(0.5), m.memory, len(m.took)
	m.mu.Unlock()
	if invoked != n {
		return Taken{}, fmt.Errorf("%d invocations for %d requests", invoked, n)
	}
	t := m.Take().Times(1 / float64(n))
	t.Millis, t.GBSeconds = float64(typical)/float64(time.Millisecond), price.Billed(typical, memory)
	return t, nil
}

// Settle waits until nothing has been counted for a while.
func (m *Meter) Settle() {
	const quiet = 50 * time.Millisecond
	for before := m.peek(); ; {
		time.Sleep(quiet)
		now := m.peek()
		if now == before {
			return
		}
		before = now
	}
}

// Invocations answers how many invocations were counted since the last Take.
func (m *Meter) Invocations() float64 { return m.peek().Invocations }

func (m *Meter) peek() Taken {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken
}

// Metrics answers how many metrics the functions' logs have told of, since the meter was made.
func (m *Meter) Metrics() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.metrics)
}

func (m *Meter) invoked(function string, memoryMB int, took time.Duration) {
	if !strings.HasPrefix(function, m.Functions) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took, m.memory = append(m.took, took), memoryMB
	m.taken.Invocations++
	m.taken.Millis += float64(took) / float64(time.Millisecond)
	m.taken.GBSeconds += price.Billed(took, memoryMB)
}

// lineOverhead is what CloudWatch adds to a line when it counts.
const lineOverhead = 26

func (m *Meter) line(function, line string) {
	if !strings.HasPrefix(function, m.Functions) {
		return
	}
	var told struct {
		AWS struct {
			CloudWatchMetrics []struct{ Metrics []struct{ Name string } }
		} `json:"_aws"`
	}
	if strings.Contains(line, `"_aws"`) {
		_ = json.Unmarshal([]byte(line), &told) // a line that is no JSON tells of no metric
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken.LogBytes += float64(len(line) + lineOverhead)
	for _, directive := range told.AWS.CloudWatchMetrics {
		for _, metric := range directive.Metrics {
			if m.metrics == nil {
				m.metrics = map[string]bool{}
			}
			m.metrics[metric.Name] = true
		}
	}
}

// writes names the operations whose units are write units.
func writes(target string) bool {
	_, operation, _ := strings.Cut(target, ".")
	switch operation {
	case "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems":
		return true
	}
	return false
}

// storage stands in front of DynamoDB and SQS.
func (m *Meter) storage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		target := r.Header.Get("X-Amz-Target")
		counts := strings.HasPrefix(target, "DynamoDB_") && bytes.Contains(asked, []byte(m.Table))
		if counts {
			asked = bytes.Replace(asked, []byte("{"), []byte(`{"ReturnConsumedCapacity":"TOTAL",`), 1)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(asked)), int64(len(asked))
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		switch {
		case counts:
			m.count(target, answer.Body.Bytes())
		case strings.HasPrefix(target, "AmazonSQS."):
			m.countQueue(target, answer.Body.Bytes())
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// countQueue counts a request to a queue, unless it is a receive that brought nothing: how many there are of those depends on
// how long nothing happens.
func (m *Meter) countQueue(target string, answer []byte) {
	if target == "AmazonSQS.ReceiveMessage" && !bytes.Contains(answer, []byte("ReceiptHandle")) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken.Queue++
}

// count adds what an answer says it consumed: one table's units, or a list of them. A transaction's count double, as AWS says them.
func (m *Meter) count(target string, answer []byte) {
	type consumed struct{ CapacityUnits float64 }
	var said struct{ ConsumedCapacity json.RawMessage }
	var list []consumed
	_ = json.Unmarshal(answer, &said)
	if json.Unmarshal(said.ConsumedCapacity, &list) != nil {
		var one consumed
		_ = json.Unmarshal(said.ConsumedCapacity, &one)
		list = []consumed{one}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken.Calls++
	for _, c := range list {
		if writes(target) {
			m.taken.Writes += c.CapacityUnits
		} else {
			m.taken.Reads += c.CapacityUnits
		}
	}
}
