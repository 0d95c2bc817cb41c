package db_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
)

// One item that is no record spoils them all, and the error says of what kind it should have been.
func TestDecodeAll(t *testing.T) {
	t.Parallel()
	type counter struct{ N int }
	one := db.Item{"N": &types.AttributeValueMemberN{Value: "1"}}
	got, err := db.DecodeAll[counter]([]db.Item{one, nil, {}})
	if diff := cmp.Diff([]counter{{1}, {}, {}}, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	none := db.Item{"N": &types.AttributeValueMemberS{Value: "one"}}
	if got, err := db.DecodeAll[counter]([]db.Item{one, none}); err == nil || got != nil || !strings.Contains(err.Error(), "db_test.counter") {
		t.Errorf("%v, %v", got, err)
	}
}
