// Reads a list by a client in Go.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := petstore.NewConfiguration()
	configuration.Servers = petstore.ServerConfigurations{{URL: os.Getenv("API")}}
	token := context.WithValue(context.Background(), petstore.ContextAccessToken, os.Getenv("KEY"))
	pets, _, err := petstore.NewAPIClient(configuration).PetsAPI.ListPets(token).Limit(100).Execute()
	if err != nil {
		panic(err)
	}
	names := []string{}
	for _, pet := range pets {
		names = append(names, pet.Name)
	}
	json.NewEncoder(os.Stdout).Encode(names)
}
