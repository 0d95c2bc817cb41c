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

// poisoned collects what is given to it.
type poisoned struct {
	records, reasons []string
	refuses          error
}

func (p *poisoned) take(_ context.Context, record []byte, reason error) error {
	if p.refuses != nil {
		return p.refuses
	}
	p.records, p.reasons = append(p.records, string(record)), append(p.reasons, reason.Error())
	return nil
}

// sequences are the numbers of records.
func sequences(records []lambdafn.StreamRecord) []string {
	all := []string{}
	for _, r := range records {
		all = append(all, r.SequenceNumber)
	}
	return all
}

// runBatch invokes a function that handles batches whole and fails for the sequence numbers that errs names.
func runBatch(t *testing.T, payload []byte, errs map[string]error, poison lambdafn.Poison) (answer string, handled [][]string, line map[string]any) {
	t.Helper()
	l := &log{}
	out, err := lambdafn.StreamBatch(slog.New(slog.NewJSONHandler(l, nil)), func(_ context.Context, records []lambdafn.StreamRecord) []error {
		handled = append(handled, sequences(records))
		answers := make([]error, len(records))
		for i, r := range records {
			answers[i] = errs[r.SequenceNumber]
		}
		return answers
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

func TestABatchOfRecordsIsHandledWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		errs    map[string]error
		records []string
		answer  string
		handled []string
		done    float64
		failed  string
	}{
		"all done": {nil, []string{removal(200), removal(300)}, `{"batchItemFailures":[]}`, []string{"100", "200", "300"}, 3, ""},
		"two failed": {
			map[string]error{"200": errors.New("no luck"), "300": errors.New("either")}, []string{removal(200), removal(300)},
			`{"batchItemFailures":[{"itemIdentifier":"200"}]}`, []string{"100", "200", "300"}, 1, "200",
		},
		"one unreadable": {nil, []string{brokenRecord, removal(300)}, `{"batchItemFailures":[{"itemIdentifier":"200"}]}`, []string{"100", "300"}, 1, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, handled, line := runBatch(t, streamEvent(tc.records...), tc.errs, nil)
			if diff := cmp.Diff([][]string{tc.handled}, handled); diff != "" || answer != tc.answer {
				t.Errorf("%s: %s", answer, diff)
			}
			if line["done"] != tc.done || (line["level"] == "ERROR") != (tc.failed != "") || (tc.failed != "" && line["failedAt"] != tc.failed) {
				t.Errorf("%v", line)
			}
		})
	}
}

func TestPoisonLeavesTheStream(t *testing.T) {
	t.Parallel()
	p := &poisoned{}
	errs := map[string]error{"300": fmt.Errorf("%w: no event in it", lambdafn.ErrPoison)}
	answer, handled, line := runBatch(t, streamEvent(brokenRecord, removal(300), `7`, removal(500)), errs, p.take)
	if diff := cmp.Diff([][]string{{"100", "300", "500"}}, handled); diff != "" || answer != `{"batchItemFailures":[]}` {
		t.Errorf("%s: %s", answer, diff)
	}
	if diff := cmp.Diff([]string{brokenRecord, removal(300), `7`}, p.records); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"new image: db: not an item in DynamoDB's JSON", "poison: no event in it", "this is no record of a DynamoDB stream",
	}, p.reasons); diff != "" {
		t.Error(diff)
	}
	if line["level"] != "ERROR" || line["done"] != 5.0 || line["poisoned"] != 3.0 || line["failed"] != 0.0 || line["reason"] != p.reasons[0] {
		t.Errorf("%v", line)
	}
}

// What lies behind a failure comes again, and would be poison twice.
func TestPoisonWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	p := &poisoned{}
	answer, _, line := runBatch(t, streamEvent(removal(150), brokenRecord), map[string]error{"150": errors.New("no luck")}, p.take)
	if answer != `{"batchItemFailures":[{"itemIdentifier":"150"}]}` || len(p.records) != 0 || line["poisoned"] != nil {
		t.Errorf("%s, %v, %v", answer, p.records, line)
	}
}

func TestPoisonThatIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, poison := range map[string]lambdafn.Poison{
		"an error": (&poisoned{refuses: errors.New("the queue is down")}).take,
		"a panic":  func(context.Context, []byte, error) error { panic("the queue is down") },
	} {
		answer, _, line := runBatch(t, streamEvent(brokenRecord, removal(300)), nil, poison)
		cause, _ := line["cause"].(string)
		if answer != `{"batchItemFailures":[{"itemIdentifier":"200"}]}` || !strings.Contains(cause, "new image") || !strings.Contains(cause, "queue is down") {
			t.Errorf("%s: %s, %v", name, answer, line)
		}
	}
}

func TestAHandlerThatDoesNotAnswerFailsTheBatch(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(context.Context, []lambdafn.StreamRecord) []error{
		"a panic":   func(context.Context, []lambdafn.StreamRecord) []error { panic(lambdafn.ErrPoison) },
		"no answer": func(context.Context, []lambdafn.StreamRecord) []error { return nil },
	} {
		p := &poisoned{}
		out, err := lambdafn.StreamBatch(discardLog, handle, p.take).Invoke(t.Context(), streamEvent(removal(200)))
		if err != nil || string(out) != `{"batchItemFailures":[{"itemIdentifier":"100"}]}` || len(p.records) != 0 {
			t.Errorf("%s: %s, %v, %v", name, out, err, p.records)
		}
	}
}

// One by one, nothing behind a poisonous record is begun before it is out of the way.
func TestAStreamGoesOnBehindPoison(t *testing.T) {
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

func TestALateBatchIsNotBegun(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	out, err := lambdafn.StreamBatch(discardLog, func(_ context.Context, r []lambdafn.StreamRecord) []error {
		t.Error("begun")
		return make([]error, len(r))
	}, nil).Invoke(late, streamEvent(removal(200)))
	if err != nil || string(out) != `{"batchItemFailures":[{"itemIdentifier":"100"}]}` {
		t.Errorf("%s, %v", out, err)
	}
}

// Whatever fails in a batch: the first of it is reported, and everything before it was either done or given to poison, once.
func TestBatchesOfRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		fates := rapid.SliceOfN(rapid.SampledFrom([]string{"done", "done", "done", "poison", "unreadable", "failed"}), 1, 12).Draw(rt, "fates")
		oneByOne := rapid.Bool().Draw(rt, "one by one")
		var records []string
		for i, fate := range fates {
			record := removal(i)
			if fate == "unreadable" {
				record = strings.Replace(record, "null", "7", 1)
			}
			records = append(records, record)
		}
		answerFor := func(r lambdafn.StreamRecord) error {
			var i int
			_, _ = fmt.Sscan(r.SequenceNumber, &i)
			return map[string]error{"poison": lambdafn.ErrPoison, "failed": errors.New("no luck")}[fates[i]]
		}
		p := &poisoned{}
		h := lambdafn.StreamBatch(discardLog, func(_ context.Context, records []lambdafn.StreamRecord) []error {
			errs := make([]error, len(records))
			for i, r := range records {
				errs[i] = answerFor(r)
			}
			return errs
		}, p.take)
		if oneByOne {
			h = lambdafn.Stream(discardLog, func(_ context.Context, r lambdafn.StreamRecord) error { return answerFor(r) }, p.take)
		}
		out, err := h.Invoke(t.Context(), []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
		if err != nil {
			rt.Fatal(err)
		}
		want, end := `{"batchItemFailures":[]}`, slices.Index(fates, "failed")
		if end >= 0 {
			want = fmt.Sprintf(`{"batchItemFailures":[{"itemIdentifier":"%d"}]}`, end)
		} else {
			end = len(fates)
		}
		var poison []string
		for i, fate := range fates[:end] {
			if fate == "poison" || fate == "unreadable" {
				poison = append(poison, records[i])
			}
		}
		if diff := cmp.Diff(poison, p.records); diff != "" || string(out) != want {
			rt.Errorf("%s where %s: %s", out, want, diff)
		}
	})
}
