// Command auth is the Lambda function behind /api/auth.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.Start(newHandler) }
