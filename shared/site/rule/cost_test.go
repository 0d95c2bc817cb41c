package rule_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"devplatform/shared/site/rule"
)

// The most expensive rules repeat a long value, and do not apply. This test is not parallel, because it measures the
// memory of the process.
func TestRulesAreCheap(t *testing.T) {
	const maxAllocated = 16 << 20
	for name, target := range map[string]string{
		"redirects":            "/?" + strings.Repeat(":splat&", 20) + " 302",
		"redirects, 8 values":  "/?" + strings.Repeat(":splat&", 8) + " 302",
		"redirects, in a path": "/" + strings.Repeat(":splat-", 8) + " 302",
		"files":                "/" + strings.Repeat(":splat/", 20) + " 200",
		"files, 8 values":      "/" + strings.Repeat(":splat/", 8) + " 200",
	} {
		var file strings.Builder
		for i := range 100 {
			fmt.Fprintf(&file, "/* /%d%s\n", i, target)
		}
		rules, warnings := rule.ParseRedirects([]byte(file.String()), func(string) bool { return true })
		if len(rules) != 100 || warnings != nil {
			t.Fatalf("%s: got %d rules and the warnings %v, want 100 and none", name, len(rules), warnings)
		}
		request := rule.Request{Path: "/" + strings.Repeat("\x01", 1000)} // each byte is escaped to three
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, ok := rule.Apply(rules, request, func(string) string { return "" })
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; ok || allocated > maxAllocated {
			t.Errorf("%s: got %+v, %t and %d allocated bytes, want no rule and at most %d",
				name, result, ok, allocated, maxAllocated)
		}
	}
}
