package dynamodb

import (
	"fmt"
	"testing"
	"time"
)

func TestTimeToLive(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	db := openTest(t, func(o *Options) { o.Now = clock.Now })
	must(t, db, "CreateTable", indexedTable)
	now := clock.Now().Unix()
	put := func(pk string, expiry string) {
		must(t, db, "PutItem", `{"TableName":"indexed","Item":{"pk":{"S":"`+pk+`"},"sk":{"S":"s"},"g":{"S":"g"},"expires":`+expiry+`}}`)
	}
	second := func(offset int64) string { return fmt.Sprintf(`{"N":"%d"}`, now+offset) }
	put("before TTL", second(10))
	must(t, db, "UpdateTimeToLive", `{"TableName":"indexed","TimeToLiveSpecification":{"AttributeName":"expires","Enabled":true}}`)
	put("soon", second(20))
	put("prolonged", second(20))
	put("prolonged", second(1000))
	put("text", `{"S":"1"}`)
	put("ancient", second(-6*365*24*3600))
	put("later", second(100))
	check := func(want string) {
		t.Helper()
		if err := db.sweep(); err != nil {
			t.Fatal(err)
		}
		for _, index := range []string{"", `,"IndexName":"keys"`} {
			got := map[string]bool{}
			page := must(t, db, "Scan", `{"TableName":"indexed"`+index+`}`)
			for _, item := range page.body["Items"].([]any) {
				got[item.(map[string]any)["pk"].(map[string]any)["S"].(string)] = true
			}
			if text := asJSON(t, got); text != want {
				t.Errorf("%s got %s, want %s", index, text, want)
			}
		}
	}
	check(`{"ancient":true,"before TTL":true,"later":true,"prolonged":true,"soon":true,"text":true}`)
	clock.advance(11 * time.Second)
	check(`{"ancient":true,"later":true,"prolonged":true,"soon":true,"text":true}`)
	clock.advance(30 * time.Second)
	check(`{"ancient":true,"later":true,"prolonged":true,"text":true}`)
	must(t, db, "UpdateTimeToLive", `{"TableName":"indexed","TimeToLiveSpecification":{"AttributeName":"expires","Enabled":false}}`)
	clock.advance(100 * time.Second)
	check(`{"ancient":true,"later":true,"prolonged":true,"text":true}`)
}

func TestTimeToLiveDescriptions(t *testing.T) {
	t.Parallel()
	db := withTables(t)
	describe := func() string { return must(t, db, "DescribeTimeToLive", `{"TableName":"hash"}`).raw }
	enable := func(enabled bool, name string) string {
		return call(t, db, "UpdateTimeToLive", fmt.Sprintf(`{"TableName":"hash","TimeToLiveSpecification":{"AttributeName":%q,"Enabled":%t}}`, name, enabled)).raw
	}
	for _, step := range []struct{ got, want string }{
		{describe(), `{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}`},
		{enable(false, "x"), `{"__type":"ValidationException","message":"TimeToLive is already disabled"}`},
		{enable(true, "x"), `{"TimeToLiveSpecification":{"AttributeName":"x","Enabled":true}}`},
		{enable(true, "x"), `{"__type":"ValidationException","message":"TimeToLive is already enabled"}`},
		{describe(), `{"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"x"}}`},
		{enable(true, "y"), `{"__type":"ValidationException","message":"TimeToLive is active on a different AttributeName: current AttributeName is x"}`},
	} {
		if step.got != step.want {
			t.Errorf("got %s, want %s", step.got, step.want)
		}
	}
}

// TestSweepInBackground checks that the background sweeper deletes expired items.
func TestSweepInBackground(t *testing.T) {
	t.Parallel()
	db := openSweeping(t, time.Millisecond, nil)
	must(t, db, "CreateTable", hashTable)
	must(t, db, "UpdateTimeToLive", `{"TableName":"hash","TimeToLiveSpecification":{"AttributeName":"e","Enabled":true}}`)
	for i := range 2*maxExpired + 3 {
		must(t, db, "PutItem", fmt.Sprintf(`{"TableName":"hash","Item":{"pk":{"S":"%d"},"e":{"N":"%d"}}}`, i, newTestClock().Now().Unix()-1))
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if must(t, db, "Scan", `{"TableName":"hash","Select":"COUNT"}`).body["Count"] == 0.0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("expired items are still there")
		}
		time.Sleep(time.Millisecond)
	}
}
