package templatetest_test

import (
	"maps"
	"testing"
	"time"

	. "devplatform/infra/templatetest"
	"devplatform/shared/assistant/quota"
)

// TestReservedConcurrency checks that only prod reserves concurrency, that the reservations fit into the default quota
// of an AWS account, and that a function whose messages come from queues can process as many batches as its mappings
// send at the same time.
func TestReservedConcurrency(t *testing.T) {
	t.Parallel()
	const accountQuota, unreserved = 1000, 100 // Lambda requires that 100 executions are not reserved
	withSites := func(more map[string]string) map[string]string {
		all := map[string]string{
			"SitesDomain": "example.app", "SitesCertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1234",
		}
		maps.Copy(all, more)
		return all
	}
	for name, c := range map[string]struct {
		parameters map[string]string
		want       int // the sum of all reservations
	}{
		"dev":                         {parameters: map[string]string{"Stage": "dev"}},
		"prod":                        {parameters: map[string]string{"Stage": "prod"}, want: 520},
		"prod in a new account":       {parameters: map[string]string{"Stage": "prod", "ReserveConcurrency": "false"}},
		"prod without the assistant":  {parameters: map[string]string{"Stage": "prod", "AiConcurrency": "0"}, want: 270},
		"dev with sites":              {parameters: withSites(map[string]string{"Stage": "dev"})},
		"prod with sites":             {parameters: withSites(map[string]string{"Stage": "prod"}), want: 620},
		"prod with more fast workers": {parameters: map[string]string{"Stage": "prod", "DeliveryConcurrency": "80"}, want: 550},
	} {
		c.parameters["AlarmEmail"] = "a@example.com" // prod needs a recipient of its alarms
		loaded, err := loadTemplate(c.parameters)
		if err != nil {
			t.Fatal(err)
		}
		sum, reserved := 0, map[string]int{}
		for _, f := range loaded.Functions {
			sum, reserved[f.Name] = sum+f.ReservedConcurrency, f.ReservedConcurrency
		}
		if sum != c.want || sum > accountQuota-unreserved {
			t.Errorf("%s: got the reservations %v, %d in total, want %d in total, at most %d",
				name, reserved, sum, c.want, accountQuota-unreserved)
		}
		batches := map[string]int{}
		for _, m := range loaded.EventSourceMappings {
			batches[m.Function] += m.MaximumConcurrency
		}
		for function, n := range reserved {
			if n > 0 && n < batches[function] {
				t.Errorf("%s: %s has %d reserved executions, but its mappings send %d batches", name, function, n, batches[function])
			}
		}
	}
}

// TestLeaseOfGenerations checks that an answer in progress counts for longer than its function can run.
func TestLeaseOfGenerations(t *testing.T) {
	t.Parallel()
	seconds, _ := Source(t).Resources["AiFunction"].Properties["Timeout"].(float64)
	if timeout := time.Duration(seconds) * time.Second; timeout <= 0 || timeout >= quota.Lease {
		t.Errorf("got the timeout %v of AiFunction, want one below the lease of %v", timeout, quota.Lease)
	}
}
