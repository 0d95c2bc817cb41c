package templatetest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "devplatform/infra/templatetest"
)

// matchesFilter reports whether a line of a JSON log matches a filter pattern of CloudWatch Logs. It supports what the
// template uses: the operators =, >=, && and ||, parentheses, and a * at the end of a string. A field that is missing
// matches no condition.
func matchesFilter(t *testing.T, pattern, line string) bool {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatalf("the log line %s is not valid JSON: %v", line, err)
	}
	expression, isJSON := strings.CutPrefix(pattern, "{ ")
	expression, isComplete := strings.CutSuffix(expression, " }")
	if !isJSON || !isComplete {
		t.Fatalf("%s is not a JSON pattern", pattern)
	}
	var matches func(expression string) bool
	matches = func(expression string) bool {
		holds := func(expression string) bool { return matches(expression) }
		if alternatives := splitOutside(expression, " || "); len(alternatives) > 1 {
			return slices.ContainsFunc(alternatives, holds)
		}
		if conditions := splitOutside(expression, " && "); len(conditions) > 1 {
			return !slices.ContainsFunc(conditions, func(condition string) bool { return !holds(condition) })
		}
		if inner, ok := strings.CutPrefix(expression, "("); ok {
			return matches(strings.TrimSuffix(inner, ")"))
		}
		return matchesCondition(t, expression, fields)
	}
	return matches(expression)
}

// splitOutside splits an expression at an operator that is not in parentheses.
func splitOutside(expression, operator string) []string {
	var parts []string
	depth, begin := 0, 0
	for i := range expression {
		switch {
		case expression[i] == '(':
			depth++
		case expression[i] == ')':
			depth--
		case depth == 0 && strings.HasPrefix(expression[i:], operator):
			parts, begin = append(parts, expression[begin:i]), i+len(operator)
		}
	}
	return append(parts, expression[begin:])
}

// matchesCondition evaluates a condition such as $.status >= 500.
func matchesCondition(t *testing.T, condition string, fields map[string]any) bool {
	t.Helper()
	parts := strings.SplitN(condition, " ", 3)
	if len(parts) != 3 || !strings.HasPrefix(parts[0], "$.") {
		t.Fatalf("the condition %s is not supported", condition)
	}
	got, exists := fields[strings.TrimPrefix(parts[0], "$.")]
	if text, err := strconv.Unquote(parts[2]); err == nil && parts[1] == "=" {
		beginning, isPrefix := strings.CutSuffix(text, "*")
		return exists && (got == text || isPrefix && strings.HasPrefix(fmt.Sprint(got), beginning))
	}
	want, err := strconv.ParseFloat(parts[2], 64)
	number, isNumber := got.(float64)
	switch {
	case err == nil && parts[1] == "=":
		return isNumber && number == want
	case err == nil && parts[1] == ">=":
		return isNumber && number >= want
	}
	t.Fatalf("the condition %s is not supported", condition)
	return false
}

// TestLogFilters checks which log lines the metrics of alarms count. Package assistant's tests check that the function
// logs such lines.
func TestLogFilters(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	const provider, ownFault = "AiFaults AiProviderFaults", "AiFaults"
	for _, tc := range []struct{ logs, line, want string }{
		{"AiLogs", `{"level":"INFO","msg":"request","status":200}`, ""},
		{"AiLogs", `{"level":"INFO","msg":"request","status":429,"code":"RATE_LIMITED"}`, "RateLimited"},
		{"AiLogs", `{"level":"ERROR","msg":"request","status":503,"code":"AI_UNAVAILABLE"}`, provider + " AiProviderErrors"},
		// A stream that failed after it had begun.
		{"AiLogs", `{"level":"ERROR","msg":"request","status":200,"code":"AI_UNAVAILABLE"}`, provider},
		{"AiLogs", `{"level":"ERROR","msg":"request","status":500,"code":"INTERNAL_ERROR",` +
			`"cause":"model: misconfigured: the model does not exist"}`, provider + " AiProviderErrors"},
		{"AiLogs", `{"level":"ERROR","msg":"answer","cause":"model: misconfigured: 401"}`,
			provider + " AiInputTokens AiOutputTokens"},
		{"AiLogs", `{"level":"ERROR","msg":"request","status":503,"code":"SERVICE_UNAVAILABLE","cause":"db: x"}`, ownFault},
		{"AiLogs", `{"level":"ERROR","msg":"request","status":500,"code":"INTERNAL_ERROR","cause":"panic: x"}`, ownFault},
		{"ProjectsLogs", `{"level":"INFO","msg":"request","status":429,"code":"RATE_LIMITED"}`, "RateLimited"},
		{"ProjectsLogs", `{"level":"ERROR","msg":"request","status":500,"code":"INTERNAL_ERROR"}`, ""},
		{"ProjectCleanupLogs", `{"level":"INFO","msg":"scheduled run"}`, "Sweeps"},
		{"ProjectCleanupLogs", `{"level":"ERROR","msg":"scheduled run","cause":"db: x"}`, "ProjectCleanupFailures"},
		{"GatewayLogs", `{"status":"429","error":"THROTTLED"}`, "RateLimited"},
		{"GatewayLogs", `{"status":"429","error":"-"}`, ""}, // the response of a function, whose log has a line, too
	} {
		var counted []string
		for _, id := range resourcesOf(tpl, "AWS::Logs::MetricFilter") {
			p := tpl.Resources[id].Properties
			if Name(p["LogGroupName"]) == tc.logs && matchesFilter(t, Name(p["FilterPattern"]), tc.line) {
				counted = append(counted, Name(At(List(p["MetricTransformations"])[0], "MetricName")))
			}
		}
		want := strings.Fields(tc.want)
		slices.Sort(want)
		if slices.Sort(counted); !slices.Equal(counted, want) {
			t.Errorf("%s: %s counts for %v, want %v", tc.logs, tc.line, counted, want)
		}
	}
}

// TestRateLimitedCountsEveryFunction checks that the metric of 429 responses counts the responses of every function
// that the API calls. Docs has no limits.
func TestRateLimitedCountsEveryFunction(t *testing.T) {
	t.Parallel()
	tpl := Transformed(t)
	counted := map[string]bool{"DocsLogs": true}
	for _, id := range resourcesOf(tpl, "AWS::Logs::MetricFilter") {
		p := tpl.Resources[id].Properties
		if Name(At(List(p["MetricTransformations"])[0], "MetricName")) == "RateLimited" {
			counted[Name(p["LogGroupName"])] = true
		}
	}
	for function := range tpl.Functions() {
		if logs := strings.TrimSuffix(function, "Function") + "Logs"; gatewayOf(tpl, function) == "Api" && !counted[logs] {
			t.Errorf("the metric RateLimited does not count the lines of %s", logs)
		}
	}
}
