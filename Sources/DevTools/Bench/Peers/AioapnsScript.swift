/// Sends notifications with aioapns, a client in Python, whose host, port and trust are
/// replaced; prints how many were answered in a second. Arguments: port, seconds, notifications under way.
enum AioapnsScript {
  static let text = """
    asyncio, ssl, sys, time, uuid = map(__import__, ("asyncio", "ssl", "sys", "time", "uuid"))
    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsProductionClientProtocol
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    port, seconds, streams = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
    APNsProductionClientProtocol.APNS_PORT = port
    trust = ssl.create_default_context()
    trust.check_hostname = False
    trust.verify_mode = ssl.CERT_NONE
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    message = {"aps": {"alert": {"title": "Parcel", "body": "Out for delivery, between 14:00 and 16:00"},
                       "sound": "default"}, "_j_msgid": 1234567890}

    async def main():
        client = APNs(key=key, key_id="K7Q2M9X4TB", team_id="T5Z8W1R6PD", topic="com.example.parcel",
                      max_connections=1, ssl_context=trust)
        count = 0

        async def worker():
            nonlocal count
            while True:
                request = NotificationRequest(
                    device_token=uuid.uuid4().hex * 2, message=message, priority=10,
                    push_type=PushType.ALERT)
                if (await client.send_notification(request)).is_successful:
                    count += 1

        workers = [asyncio.create_task(worker()) for _ in range(streams)]
        await asyncio.sleep(1)
        before, start = count, time.monotonic()
        await asyncio.sleep(seconds)
        print((count - before) / (time.monotonic() - start), flush=True)
        for task in workers:
            task.cancel()

    asyncio.run(main())
    """
}
