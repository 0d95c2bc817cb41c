package lambdafn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/lambdafn"
)

// poisoned collects records, or returns its error if that is set.
type poisoned struct {
	records, reasons []string
	err              error
}

func (p *poisoned) store(_ context.Context, record []byte, reason error) error {
	if p.err != nil {
		return p.err
	}
	p.records, p.reasons = append(p.records, string(record)), append(p.reasons, reason.Error())
	return nil
}

// sequences returns the sequence numbers of records.
func sequences(records []lambdafn.StreamRecord) []string {
	all := []string{}
	for _, r := range records {
		all = append(all, r.SequenceNumber)
	}
	return all
}

// runBatch invokes a batch handler that returns the errors in errs, by sequence number.
func runBatch(t *testing.T, payload []byte, errs map[string]error, poison lambdafn.Poison) (response string, handled [][]string, line map[string]any) {
	t.Helper()
	l := &log{}
	out, err := lambdafn.StreamBatch(slog.New(slog.NewJSONHandler(l, nil)), func(_ context.Context, records []lambdafn.StreamRecord) []error {
		handled = append(handled, sequences(records))
		results := make([]error, len(records))
		for i, r := range records {
			results[i] = errs[r.SequenceNumber]
		}
		return results
	}, poison).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	lines := l.lines(t)
	if len(lines) != 1 {
		t.Fatalf("%d lines in the log", len(lines))
	}
	return string(out), handled, lines[0]
}

const brokenRecord = `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":{"a":{"X":"hunter2"}}}}`

func TestStreamBatchHandlesRecordsTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		errs     map[string]error
		records  []string
		response string
		handled  []string
		done     float64
		failed   string
	}{
		"all done": {nil, []string{removal(200), removal(300)}, `{"batchItemFailures":[]}`, []string{"100", "200", "300"}, 3, ""},
		"two failed": {
			map[string]error{"200": errors.New("failed"), "300": errors.New("failed, too")}, []string{removal(200), removal(300)},
			`{"batchItemFailures":[{"itemIdentifier":"200"}]}`, []string{"100", "200", "300"}, 1, "200",
		},
		"one invalid": {nil, []string{brokenRecord, removal(300)}, `{"batchItemFailures":[{"itemIdentifier":"200"}]}`, []string{"100", "300"}, 1, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, handled, line := runBatch(t, streamEvent(tc.records...), tc.errs, nil)
			if diff := cmp.Diff([][]string{tc.handled}, handled); diff != "" || response != tc.response {
				t.Errorf("%s: %s", response, diff)
			}
			if line["done"] != tc.done || (line["level"] == "ERROR") != (tc.failed != "") || (tc.failed != "" && line["failedAt"] != tc.failed) {
				t.Errorf("%v", line)
			}
		})
	}
}

func TestPoisonousRecordsCountAsDone(t *testing.T) {
	t.Parallel()
	p := &poisoned{}
	errs := map[string]error{"300": fmt.Errorf("%w: no event in it", lambdafn.ErrPoison)}
	response, handled, line := runBatch(t, streamEvent(brokenRecord, removal(300), `7`, removal(500)), errs, p.store)
	if diff := cmp.Diff([][]string{{"100", "300", "500"}}, handled); diff != "" || response != `{"batchItemFailures":[]}` {
		t.Errorf("%s: %s", response, diff)
	}
	if diff := cmp.Diff([]string{brokenRecord, removal(300), `7`}, p.records); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"new image: db: not an item in DynamoDB's JSON", "poison: no event in it", "not a record of a DynamoDB stream",
	}, p.reasons); diff != "" {
		t.Error(diff)
	}
	if line["level"] != "ERROR" || line["done"] != 5.0 || line["poisoned"] != 3.0 || line["failed"] != 0.0 || line["reason"] != p.reasons[0] {
		t.Errorf("%v", line)
	}
}

// Lambda sends the records behind a failure again, so they would be stored twice.
func TestRecordsBehindAFailureDoNotGoToPoison(t *testing.T) {
	t.Parallel()
	p := &poisoned{}
	response, _, line := runBatch(t, streamEvent(removal(150), brokenRecord), map[string]error{"150": errors.New("failed")}, p.store)
	if response != `{"batchItemFailures":[{"itemIdentifier":"150"}]}` || len(p.records) != 0 || line["poisoned"] != nil {
		t.Errorf("%s, %v, %v", response, p.records, line)
	}
}

func TestPoisonThatFails(t *testing.T) {
	t.Parallel()
	for name, poison := range map[string]lambdafn.Poison{
		"error": (&poisoned{err: errors.New("the queue is down")}).store,
		"panic": func(context.Context, []byte, error) error { panic("the queue is down") },
	} {
		response, _, line := runBatch(t, streamEvent(brokenRecord, removal(300)), nil, poison)
		cause, _ := line["cause"].(string)
		if response != `{"batchItemFailures":[{"itemIdentifier":"200"}]}` || !strings.Contains(cause, "new image") || !strings.Contains(cause, "queue is down") {
			t.Errorf("%s: %s, %v", name, response, line)
		}
	}
}

func TestStreamBatchWithInvalidResults(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(context.Context, []lambdafn.StreamRecord) []error{
		"panic":      func(context.Context, []lambdafn.StreamRecord) []error { panic(lambdafn.ErrPoison) },
		"no results": func(context.Context, []lambdafn.StreamRecord) []error { return nil },
	} {
		p := &poisoned{}
		out, err := lambdafn.StreamBatch(discardLog, handle, p.store).Invoke(t.Context(), streamEvent(removal(200)))
		if err != nil || string(out) != `{"batchItemFailures":[{"itemIdentifier":"100"}]}` || len(p.records) != 0 {
			t.Errorf("%s: %s, %v, %v", name, out, err, p.records)
		}
	}
}

// Stream passes no record to handle until the poisonous records before it are stored.
func TestStreamContinuesBehindPoison(t *testing.T) {
	t.Parallel()
	var order []string
	poison := func(_ context.Context, _ []byte, reason error) error {
		order = append(order, reason.Error())
		return nil
	}
	out, err := lambdafn.Stream(discardLog, func(_ context.Context, r lambdafn.StreamRecord) error {
		order = append(order, r.SequenceNumber)
		if r.SequenceNumber == "300" {
			return fmt.Errorf("%w: 300", lambdafn.ErrPoison)
		}
		return nil
	}, poison).Invoke(t.Context(), streamEvent(brokenRecord, removal(300), removal(400)))
	want := []string{"100", "new image: db: not an item in DynamoDB's JSON", "300", "poison: 300", "400"}
	if diff := cmp.Diff(want, order); diff != "" || err != nil || string(out) != `{"batchItemFailures":[]}` {
		t.Errorf("%s, %v: %s", out, err, diff)
	}
}

func TestStreamBatchDoesNotStartLate(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	out, err := lambdafn.StreamBatch(discardLog, func(_ context.Context, r []lambdafn.StreamRecord) []error {
		t.Error("started")
		return make([]error, len(r))
	}, nil).Invoke(late, streamEvent(removal(200)))
	if err != nil || string(out) != `{"batchItemFailures":[{"itemIdentifier":"100"}]}` {
		t.Errorf("%s, %v", out, err)
	}
}

// The first failure of a batch is reported, and every record before it was either done or stored as poison, once.
func TestBatchesOfRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.SampledFrom([]string{"done", "done", "done", "poison", "invalid", "failed"}), 1, 12).Draw(rt, "outcomes")
		oneByOne := rapid.Bool().Draw(rt, "one by one")
		var records []string
		for i, outcome := range outcomes {
			record := removal(i)
			if outcome == "invalid" {
				record = strings.Replace(record, "null", "7", 1)
			}
			records = append(records, record)
		}
		resultOf := func(r lambdafn.StreamRecord) error {
			var i int
			_, _ = fmt.Sscan(r.SequenceNumber, &i)
			return map[string]error{"poison": lambdafn.ErrPoison, "failed": errors.New("failed")}[outcomes[i]]
		}
		p := &poisoned{}
		h := lambdafn.StreamBatch(discardLog, func(_ context.Context, records []lambdafn.StreamRecord) []error {
			errs := make([]error, len(records))
			for i, r := range records {
				errs[i] = resultOf(r)
			}
			return errs
		}, p.store)
		if oneByOne {
			h = lambdafn.Stream(discardLog, func(_ context.Context, r lambdafn.StreamRecord) error { return resultOf(r) }, p.store)
		}
		out, err := h.Invoke(t.Context(), []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
		if err != nil {
			rt.Fatal(err)
		}
		want, end := `{"batchItemFailures":[]}`, slices.Index(outcomes, "failed")
		if end >= 0 {
			want = fmt.Sprintf(`{"batchItemFailures":[{"itemIdentifier":"%d"}]}`, end)
		} else {
			end = len(outcomes)
		}
		var poison []string
		for i, outcome := range outcomes[:end] {
			if outcome == "poison" || outcome == "invalid" {
				poison = append(poison, records[i])
			}
		}
		if diff := cmp.Diff(poison, p.records); diff != "" || string(out) != want {
			rt.Errorf("%s where %s: %s", out, want, diff)
		}
	})
}
