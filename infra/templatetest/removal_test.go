package templatetest_test

import (
	"testing"

	. "devplatform/infra/templatetest"
	"devplatform/shared/removal"
)

// TestRemovalTimes checks that a removal begins after all functions that write the data of users have ended what they
// did when the workspace or the account ended, and that a worker does not run longer than its lease.
func TestRemovalTimes(t *testing.T) {
	t.Parallel()
	tpl := Source(t)
	const worker = "ProjectCleanupFunction"
	writers := 0
	for _, function := range resourcesOf(tpl, "AWS::Serverless::Function") {
		if function == worker {
			continue
		}
		writers++
		if limit := timeout(tpl, function); limit >= removal.Delay.Seconds() {
			t.Errorf("%s runs up to %v s, want less than the %v before a removal begins", function, limit, removal.Delay)
		}
	}
	if limit := timeout(tpl, worker); writers == 0 || limit == 0 || limit >= removal.LeaseTime.Seconds() {
		t.Errorf("a worker runs up to %v s, want less than its lease of %v", limit, removal.LeaseTime)
	}
}
