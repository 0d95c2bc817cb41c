package provision_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/provision"
)

func TestCreatesMissingResources(t *testing.T) {
	t.Parallel()
	s := start(t)
	made, loaded := s.apply(t, template)
	equal(t, made, "secrets local-Keys; tables local-Accounts, local-Counted; time to live of local-Accounts")

	accounts := s.describe(t, "local-Accounts")
	equal(t, accounts.BillingModeSummary.BillingMode, types.BillingModePayPerRequest)
	equal(t, *accounts.KeySchema[1].AttributeName, "sk")
	counted := s.describe(t, "local-Counted")
	equal(t, counted.AttributeDefinitions[0].AttributeType, types.ScalarAttributeTypeN)
	ttl, err := s.tables.DescribeTimeToLive(t.Context(), &sdk.DescribeTimeToLiveInput{TableName: aws.String("local-Accounts")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, *ttl.TimeToLiveDescription.AttributeName, "expiresAt")

	// A function finds its secret by the value of !Ref.
	var ring map[string]string
	if err := json.Unmarshal([]byte(s.value(t, loaded.Functions[0].Env["KEYS"])), &ring); err != nil {
		t.Fatal(err)
	}
	equal(t, ring["current"], "k1")
	equal(t, len(ring["k1"]), 64)
}

func TestChangesNothingIfAllExists(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, template)
	before := s.value(t, "local-Keys")
	s.counted()
	made, _ := s.apply(t, template)
	equal(t, made, "everything is there")
	equal(t, s.counted(), map[string]int{"DescribeTable": 2, "DescribeTimeToLive": 2, "DescribeSecret": 1})
	equal(t, s.value(t, "local-Keys"), before)
}

func TestAddsIndexesAndTimeToLive(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, template)
	made, _ := s.apply(t, index)
	equal(t, made, "indexes local-Accounts/due")
	made, _ = s.apply(t, index)
	equal(t, made, "everything is there")
	equal(t, *s.describe(t, "local-Accounts").GlobalSecondaryIndexes[0].IndexName, "due")
	made, _ = s.apply(t, template) // an index that is no longer in the template stays
	equal(t, made, "everything is there")

	fresh := start(t)
	made, _ = fresh.apply(t, index)
	if !strings.Contains(made, "tables local-Accounts") || strings.Contains(made, "index") {
		t.Error(made)
	}
	equal(t, *fresh.describe(t, "local-Accounts").GlobalSecondaryIndexes[0].IndexName, "due")

	for ttl, want := range map[string]string{"{AttributeName: other, Enabled: true}": "other", "{AttributeName: x, Enabled: false}": ""} {
		fresh.apply(t, strings.Replace(template, "{AttributeName: expiresAt, Enabled: true}", ttl, 1))
		out, err := fresh.tables.DescribeTimeToLive(t.Context(), &sdk.DescribeTimeToLiveInput{TableName: aws.String("local-Accounts")})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, aws.ToString(out.TimeToLiveDescription.AttributeName), want)
	}
}

func TestRefusesAnotherKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.apply(t, index)
	for name, test := range map[string]struct{ old, replacement, want string }{
		"sort key gone": {
			", {AttributeName: sk, KeyType: RANGE}]\n      TimeToLive", "]\n      TimeToLive",
			"provision: table local-Accounts: exists with the key HASH pk (S), RANGE sk (S), the template has the key HASH pk (S): this can't be changed; remove the old one, or give the new one another name",
		},
		"type": {
			"{AttributeName: pk, AttributeType: S}", "{AttributeName: pk, AttributeType: B}",
			"provision: table local-Accounts: exists with the key HASH pk (S), RANGE sk (S), the template has the key HASH pk (B), RANGE sk (S): this can't be changed; remove the old one, or give the new one another name",
		},
		"index key": {
			"[{AttributeName: sk, KeyType: HASH}, {AttributeName: due", "[{AttributeName: pk, KeyType: HASH}, {AttributeName: due",
			"provision: table local-Accounts: index due: exists with the key HASH sk (S), RANGE due (N) and the projection KEYS_ONLY [], the template has the key HASH pk (S), RANGE due (N) and the projection KEYS_ONLY []: this can't be changed; remove the old one, or give the new one another name",
		},
		"projection": {
			"KEYS_ONLY", "ALL",
			"provision: table local-Accounts: index due: exists with the key HASH sk (S), RANGE due (N) and the projection KEYS_ONLY [], the template has the key HASH sk (S), RANGE due (N) and the projection ALL []: this can't be changed; remove the old one, or give the new one another name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(index, test.old, test.replacement, 1)
			if changed == index {
				t.Fatal("nothing replaced")
			}
			_, err := provision.Apply(t.Context(), load(t, s, changed), provision.Options{Endpoint: s.url})
			if err == nil || err.Error() != test.want {
				t.Errorf("%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestContinuesAfterAnInterruption(t *testing.T) {
	t.Parallel()
	s := start(t)
	// The table is created, then setting its time to live fails.
	refuse := func(operation string, _ int, status *int, body []byte) []byte {
		if operation != "DescribeTimeToLive" {
			return body
		}
		*status = http.StatusBadRequest
		return []byte(`{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException","message":"no"}`)
	}
	s.during(refuse, func() {
		if _, err := provision.Apply(t.Context(), load(t, s, template), provision.Options{Endpoint: s.url}); err == nil || !strings.Contains(err.Error(), "time to live") {
			t.Errorf("%v", err)
		}
	})
	s.apply(t, template)
	made, _ := s.apply(t, template)
	equal(t, made, "everything is there")
	ttl, err := s.tables.DescribeTimeToLive(t.Context(), &sdk.DescribeTimeToLiveInput{TableName: aws.String("local-Accounts")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, ttl.TimeToLiveDescription.TimeToLiveStatus, types.TimeToLiveStatusEnabled)
}
