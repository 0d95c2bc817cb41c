package dynamodb

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func isClosed(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestStreamChanged(t *testing.T) {
	t.Parallel()
	s := openStreaming(t, nil)
	arn, other := s.create(t, "things", types.StreamViewTypeKeysOnly), s.create(t, "others", types.StreamViewTypeKeysOnly)
	put := func() {
		t.Helper()
		s.clock.advance(1) // makes the item different
		item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: s.clock.Now().String()}}
		_, err := s.tables.PutItem(t.Context(), &sdk.PutItemInput{TableName: aws.String("things"), Item: item})
		if err != nil {
			t.Fatal(err)
		}
	}
	put() // while no reader waits
	changed, same, others := s.db.StreamChanged(arn), s.db.StreamChanged(arn), s.db.StreamChanged(other)
	if changed == nil || isClosed(changed) || isClosed(same) {
		t.Fatal("the channel is closed before a record was written")
	}
	put()
	if !isClosed(changed) || !isClosed(same) {
		t.Error("a record did not close the channels of all readers")
	}
	if isClosed(others) {
		t.Error("a record of one table closed the channel of another table's stream")
	}
	changed = s.db.StreamChanged(arn)
	if isClosed(changed) {
		t.Error("the second channel is closed before a record was written")
	}
	_, err := s.tables.UpdateTable(t.Context(), &sdk.UpdateTableInput{
		TableName: aws.String("things"), StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !isClosed(changed) {
		t.Error("the end of the stream did not close the channel")
	}
	if s.db.StreamChanged(arn+"0") != nil || s.db.StreamChanged("") != nil {
		t.Error("there is a channel for a stream that does not exist")
	}
}
