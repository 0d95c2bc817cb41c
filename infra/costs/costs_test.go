package main

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/resources"
	"devplatform/infra/platformtest"
)

// TestDollars checks prices that were computed by hand from AWS's pages.
func TestDollars(t *testing.T) {
	t.Parallel()
	job := &row{units: units{invocations: 1, reads: 8}}
	s := &resources.Stack{
		Schedules: []resources.Schedule{
			{Function: "Retry", Expression: "rate(1 minute)"}, {Function: "Sweep", Expression: "rate(1 day)"},
		},
		EventSourceMappings: []resources.EventSourceMapping{{Queue: "deliveries"}, {Table: "events"}},
	}
	month := 0.0
	for _, e := range background(s, map[string]*row{"Retry": job}) {
		month += e.price.of(e.units)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"a million requests", units{gateway: 1e6}.dollars(), 3.50},
		{"a million invocations", units{invocations: 1e6}.dollars(), 0.20},
		{"a million times 10 ms", units{gbSeconds: 1e6 * gigabyteSeconds(9100*time.Microsecond, 512)}.dollars(), 0.066667},
		{"a million reads and writes", units{reads: 1e6, writes: 1e6}.dollars(), 0.75},
		{"2 GB of logs and one of transfer", units{logBytes: 2 << 30, outBytes: 1 << 30}.dollars(), 1.09},
		{"calls", units{calls: 1e6}.dollars(), 0},
		{"the difference of units", units{queue: 3e6}.plus(-0.5, units{queue: 2e6, traces: -2e5}).dollars(), 1 + 0.5},
		{"less than one request a second", traced(50, 100*time.Second), 50},
		{"100 requests a second", traced(10_000, 100*time.Second), 100 + 0.05*9_900},
		// 657,000 empty receives $0.2628, 43,800 runs $0.0438, 8,760 requests for a key $0.02628, 4 metrics $1.20; each run
		// an invocation $0.00876, 8 reads $0.0438 and a trace $0.219.
		{"a month without users", month, 0.2628 + 0.0438 + 0.02628 + 1.20 + 0.00876 + 0.0438 + 0.219},
	} {
		if math.Abs(c.got-c.want) > 1e-4 {
			t.Errorf("%s: %f, want %f", c.name, c.got, c.want)
		}
	}
}

func TestTypical(t *testing.T) {
	t.Parallel()
	counts := func(numbers ...float64) (all [runs]units) {
		for i, n := range numbers {
			all[i] = units{calls: n, writes: 2 * float64(i)}
		}
		return all
	}
	if got, err := typical(counts(7, 5, 5, 5, 4)); err != nil || got != (units{calls: 5, writes: 4}) {
		t.Errorf("typical = %v, %v, want 5 calls and 4 writes", got, err)
	}
	if got, err := typical(counts(7, 7, 5, 5, 4)); err == nil {
		t.Errorf("typical = %v although most runs differ", got)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "template.yaml")
	const text = `
Resources:
  Plain: {Type: AWS::CloudWatch::Alarm, Properties: {MetricName: Errors}}
  Sum:
    Type: AWS::CloudWatch::Alarm
    Condition: IsProd
    Properties: {Metrics: [{MetricStat: {Period: 60}}, {MetricStat: {Period: 60}}, {Expression: a + b}]}
  Page: {Type: AWS::CloudWatch::CompositeAlarm, Properties: {AlarmRule: ALARM("Plain") OR ALARM("Sum")}}
  Keys: {Type: AWS::SecretsManager::Secret}
  AlarmKey: {Type: AWS::KMS::Key}
  Faults: {Type: AWS::Logs::MetricFilter, Properties: {MetricTransformations: [{MetricName: A}, {MetricName: B}]}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	idle, used, err := billedResources(path)
	got := map[string]float64{}
	for _, e := range append(idle, used...) {
		got[e.name] = e.units
	}
	want := map[string]float64{
		"alarms": 3, "composite alarms": 1, "dashboard": 0, "key of the alarms' topic": 1, "secrets": 1, "metrics from logs": 2,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("billed resources: %v\n%s", err, diff)
	}
}

// TestCalculate checks that COSTS.md contains the costs of the current code.
func TestCalculate(t *testing.T) {
	binaries := platformtest.Binaries(t)
	t.Chdir(platformtest.Root)
	got, err := calculate(t.Context(), binaries)
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("infra/COSTS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(document), begin)
	tables, _, _ := strings.Cut(rest, end)
	if diff := cmp.Diff(strings.Split(tables, "\n"), strings.Split(got.tables(), "\n")); diff != "" {
		t.Errorf("COSTS.md is out of date; make costs updates it (-document +calculated):\n%s", diff)
	}
}

// TestDocument checks that write replaces only the tables, and that COSTS.md has a place for them.
func TestDocument(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../COSTS.md")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "COSTS.md")
	if err := os.WriteFile(path, document, 0o600); err != nil {
		t.Fatal(err)
	}
	r := result{rows: []*row{{name: "nothing"}, {name: "a save", units: units{gateway: 1, calls: 6}}}}
	if err := write(path, r.tables()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	before, _, _ := strings.Cut(string(document), begin)
	_, after, _ := strings.Cut(string(document), end)
	want := before + begin + r.tables() + end + after
	if err != nil || string(got) != want || !strings.Contains(want, "| a save | $3.50 | 6 |") {
		t.Errorf("%v: the document is\n%s", err, got)
	}
	if err := os.WriteFile(path, []byte("no tables\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if write(path, r.tables()) == nil {
		t.Error("a document without a place for the tables was accepted")
	}
}

// TestNames checks that the example consists of rows that are counted, and that all metrics and secrets are counted.
func TestNames(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../shared/webhook/delivery/metrics.go")
	n := len(regexp.MustCompile(`(?m)^\tmetric\w+ += "`).FindAll(source, -1))
	if err != nil || n != jobMetrics+deliveryMetrics {
		t.Errorf("the functions have %d metrics, want %d: %v", n, jobMetrics+deliveryMetrics, err)
	}
	functions, err := os.ReadFile("../../template.yaml")
	n = len(regexp.MustCompile(`(?m)^ +[A-Z]+_SECRET: !Ref`).FindAll(functions, -1))
	if err != nil || n != functionSecrets {
		t.Errorf("the functions have %d secrets, want %d: %v", n, functionSecrets, err)
	}
	names := map[string]bool{rowModel: true, rowLone: true, rowDeploy: true, rowPage: true}
	for _, r := range requests(nil, make([]string, 4)) {
		names[r.name] = true
	}
	for _, did := range exampleDay {
		if !names[did.row] {
			t.Errorf("%q is not counted", did.row)
		}
	}
}
