"""An MQTT broker in memory: hub and tables meet there on one event loop, without a socket."""

import asyncio

import aiomqtt

from pi_controller.hub import mqtt
from pi_controller.hub.mqtt import Broker


class MemoryBroker:
    """Its `connect` stands for `mqtt.make_client`.

    All that is published goes to `sent(account, topic, payload, retain)`, too. With `passwords`, {account: password},
    it accepts these accounts alone.
    """

    def __init__(self, sent=lambda *_: None, passwords=None):
        self.sent, self.passwords = sent, passwords
        self.clients, self.retained, self.runs = {}, {}, True

    def account(self, name):
        """Return how `name` signs in."""
        return Broker("broker", 8883, name, "secret")

    def connect(self, account, will=None, name=""):
        return MemoryClient(self, account, will, name or account.user)

    def start(self):
        self.runs = True

    def kill(self):
        """End all connections; what was retained is lost."""
        self.runs = False
        self.retained.clear()
        while self.clients:
            self.clients.popitem()[1].messages.put_nowait(None)

    def drop(self, name):
        """End the connection of `name`, whose last will comes."""
        client = self.clients.pop(name)
        client.messages.put_nowait(None)
        client.publish_will()

    def accepts(self, account):
        return self.runs and (self.passwords is None or self.passwords.get(account.user) == account.password)

    def publish(self, account, topic, payload, *, retain):
        self.sent(account, topic, payload, retain)
        if retain:
            self.retained[topic] = payload
        for client in self.clients.values():
            if any(aiomqtt.Topic(topic).matches(wanted) for wanted in client.wanted):
                client.receive(topic, payload)


class MemoryClient:
    """What `aiomqtt.Client` is to a table and the hub."""

    def __init__(self, broker, account, will, name):
        self.broker, self.account, self.will, self.name = broker, account, will, name
        self.messages, self.wanted = _Messages(), []

    async def __aenter__(self):
        if not self.broker.accepts(self.account):
            raise aiomqtt.MqttError("the broker does not accept the connection")
        if self.name in self.broker.clients:
            self.broker.drop(self.name)
        self.broker.clients[self.name] = self
        return self

    async def __aexit__(self, kind, error, trace):
        if self.broker.clients.get(self.name) is self:
            del self.broker.clients[self.name]
            if error is not None:
                self.publish_will()

    async def publish(self, topic, payload, qos=mqtt.QOS, retain=False):
        self._require_connection()
        self.broker.publish(self.account.user, topic, payload, retain=retain)

    async def subscribe(self, topic, qos=mqtt.QOS):
        self._require_connection()
        self.wanted.append(topic)
        for known, payload in self.broker.retained.items():
            if aiomqtt.Topic(known).matches(topic):
                self.receive(known, payload, retain=True)

    def receive(self, topic, payload, *, retain=False):
        self.messages.put_nowait(aiomqtt.Message(topic, payload, mqtt.QOS, retain, 0, None))

    def publish_will(self):
        if self.will is not None:
            self.broker.publish(self.account.user, self.will.topic, mqtt.encode(self.will.message), retain=True)

    def _require_connection(self):
        if self.broker.clients.get(self.name) is not self:
            raise aiomqtt.MqttError("the connection broke")


class _Messages(asyncio.Queue):
    """The messages of a connection, in order; None is its end."""

    def __aiter__(self):
        return self

    async def __anext__(self):
        message = await self.get()
        if message is None:
            raise aiomqtt.MqttError("the connection broke")
        return message
