// Reads a list by a client in Java.

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.Pet;

class Reader {
    public static void main(String[] arguments) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("API"));
        String token = "Bearer " + System.getenv("KEY");
        client.setRequestInterceptor(request -> request.header("Authorization", token));
        var names = new PetsApi(client).listPets(100L, null, null, null).stream().map(Pet::getName).toList();
        new PrintStream(System.out, true, StandardCharsets.UTF_8).println(new ObjectMapper().writeValueAsString(names));
    }
}
