package metric_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/metric"
)

var at = time.Date(2026, 1, 31, 8, 15, 30, 123_456_789, time.UTC)

// put returns the lines that Put logs.
func put(t *testing.T, namespace string, values ...metric.Value) []string {
	t.Helper()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, nil))
	metric.New(logger, namespace, func() time.Time { return at }).Put(t.Context(), values...)
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// attempts returns the metric Attempts with one value.
func attempts(n float64) metric.Value {
	return metric.Value{Name: "Attempts", Unit: metric.Count, Values: []float64{n}}
}

func TestPut(t *testing.T) {
	t.Parallel()
	latency := metric.Value{Name: "Latency", Unit: metric.Milliseconds, Values: []float64{1, 2.5}}
	lines := put(t, "devplatform", attempts(3), latency)
	if len(lines) != 1 {
		t.Fatalf("got lines %q, want one", lines)
	}
	_, afterTime, _ := strings.Cut(lines[0], `,"level"`)
	want := `:"INFO","msg":"metrics","_aws":{"Timestamp":1769847330123,` +
		`"CloudWatchMetrics":[{"Namespace":"devplatform","Dimensions":[[]],` +
		`"Metrics":[{"Name":"Attempts","Unit":"Count"},{"Name":"Latency","Unit":"Milliseconds"}]}]},` +
		`"Attempts":[3],"Latency":[1,2.5]}`
	if afterTime != want {
		t.Errorf("got line %s, want %s", afterTime, want)
	}
}

func TestPutWithoutMetrics(t *testing.T) {
	t.Parallel()
	if lines := put(t, "", attempts(3)); lines != nil {
		t.Errorf("without a namespace: got lines %q, want none", lines)
	}
	withoutValues := []metric.Value{
		{Name: "A", Unit: metric.Count},
		{Name: "B", Unit: metric.Seconds, Values: []float64{math.NaN(), math.Inf(1), math.Inf(-1)}},
	}
	if lines := put(t, "devplatform", withoutValues...); lines != nil {
		t.Errorf("without finite values: got lines %q, want none", lines)
	}
	if lines := put(t, "devplatform"); lines != nil {
		t.Errorf("without metrics: got lines %q, want none", lines)
	}
}

// line is a log line as CloudWatch parses it.
type line struct {
	AWS struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
}

// Every value is logged once with its name and unit, and no line exceeds the limits of CloudWatch.
func TestEveryValueIsLoggedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var values []metric.Value
		want := map[string][]float64{}
		for i := range rapid.IntRange(0, 230).Draw(rt, "metrics") {
			v := metric.Value{Name: fmt.Sprint("M", i), Unit: metric.Milliseconds}
			for n := range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 100, 101, 250}).Draw(rt, "values") {
				v.Values = append(v.Values, float64(n)+0.5)
			}
			if v.Values != nil {
				want[v.Name] = v.Values
			}
			values = append(values, v)
		}
		got := map[string][]float64{}
		for _, text := range put(t, "devplatform", values...) {
			var l line
			var members map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				rt.Fatal(err)
			}
			if err := json.Unmarshal([]byte(text), &members); err != nil {
				rt.Fatal(err)
			}
			if len(text) > 256<<10 || l.AWS.Timestamp != at.UnixMilli() || len(l.AWS.CloudWatchMetrics) != 1 {
				rt.Fatalf("got a line of %d bytes: %.200s, want one directive in at most 256 KB", len(text), text)
			}
			d := l.AWS.CloudWatchMetrics[0]
			const otherMembers = 4 // time, level, msg and _aws
			if d.Namespace != "devplatform" || len(d.Dimensions) != 1 || len(d.Metrics) > 100 {
				rt.Fatalf("got line %.200s, want one set of dimensions and at most 100 metrics", text)
			}
			if len(d.Metrics)+otherMembers != len(members) {
				rt.Fatalf("got line %.200s, want exactly the values of its metrics", text)
			}
			for _, m := range d.Metrics {
				var values []float64
				err := json.Unmarshal(members[m.Name], &values)
				if err != nil || m.Unit != "Milliseconds" || len(values) == 0 || len(values) > 100 {
					rt.Fatalf("metric %s: got %d values in %s, %v, want 1 to 100 in Milliseconds", m.Name, len(values), m.Unit, err)
				}
				got[m.Name] = append(got[m.Name], values...)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Errorf("values (-want +got):\n%s", diff)
		}
	})
}

func TestPutDoesNotChangeValues(t *testing.T) {
	t.Parallel()
	values := []float64{1, math.Inf(1), 3}
	put(t, "devplatform", metric.Value{Name: "A", Unit: metric.Count, Values: values})
	if !slices.Equal(values, []float64{1, math.Inf(1), 3}) {
		t.Errorf("got values %v after Put, want them unchanged", values)
	}
}
