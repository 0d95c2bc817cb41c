// Command empty is the smallest Lambda function: the baseline for the cold starts of all other functions.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(func() (string, error) { return "", nil })
}
